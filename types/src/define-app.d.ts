import type { App, Given, Methods } from './apps.d.ts';
import type { DefinitionProp, PropDefinitions } from './props.d.ts';
import type { CheckedProps } from './values.d.ts';

/** Type of `this` in methods of an app and in its `options`. */
export type AppThis<M, Auth> = M & { readonly $auth: Auth };

export interface AppOptions<D, M, Slug> {
  readonly type: 'app';
  /** The slug of the app in the server's catalogue. */
  readonly app: Slug;
  readonly propDefinitions?: D;
  readonly methods?: M;
}

type CheckedDefinitions<D> = { readonly propDefinitions?: NoInfer<CheckedProps<D, DefinitionProp>> };

export interface DefineApp<Auth> {
  <const D extends PropDefinitions, M extends Methods, const Slug extends string>(
    app: AppOptions<D, M, Slug> & CheckedDefinitions<D> & ThisType<AppThis<Given<M>, Auth>>,
  ): App<Given<D>, Given<M>, Auth, Slug>;
}
