/**
 * `Function` has no signature, so a parameter without a type is reported to the author, as in all
 * strict code.
 */
export interface Methods {
  [name: string]: Function;
}

/** Fields of an OAuth app's account; apps with keys have their own. */
export interface AppAuth {
  oauth_access_token: string;
  oauth_client_id: string;
  oauth_refresh_token: string;
  oauth_uid: string;
  [field: string]: any;
}

/**
 * The accounts of apps by slug, for apps that are declared in place (`{ type: 'app', app: 'acme'
 * }`). To be extended:
 *
 *     declare module '@headwater/types' { interface AppAuths { acme: { api_key: string } } }
 */
export interface AppAuths {}

/**
 * Inferred type of an optional part. If the part is absent, inference yields only its constraint;
 * then this is `{}`.
 */
export type Given<T> = string extends keyof T ? {} : T;

declare const AUTH: unique symbol;

export interface App<D = {}, M = {}, Auth = AppAuth, Slug extends string = string> {
  readonly type: 'app';
  readonly app: Slug;
  readonly propDefinitions: D;
  readonly methods: M;
  /** Only the compiler knows of it. */
  readonly [AUTH]?: Auth;
}

/** An app, by `defineApp` or as a plain object. */
export interface AnyApp {
  readonly type: 'app';
  readonly app: string;
  readonly propDefinitions?: object;
  readonly methods?: object;
  readonly label?: string;
  readonly description?: string;
  readonly optional?: boolean;
  readonly hidden?: boolean;
  readonly disabled?: boolean;
  readonly reloadProps?: boolean;
}

type AuthOf<A> = A extends { readonly [AUTH]?: infer Auth }
  ? [unknown] extends [Auth]
    ? AuthOfSlug<A>
    : NonNullable<Auth>
  : AuthOfSlug<A>;

type AuthOfSlug<A> = A extends { readonly app: infer Slug }
  ? Slug extends keyof AppAuths
    ? AppAuths[Slug]
    : AppAuth
  : AppAuth;

/**
 * Type of `this.<app>` in a component. An optional app exists without an account too, with an empty
 * `$auth`.
 */
export type AppInstance<A> = (A extends { readonly methods: infer M } ? M : unknown) & {
  readonly $auth: A extends { readonly optional: true } ? Partial<AuthOf<A>> : AuthOf<A>;
};
