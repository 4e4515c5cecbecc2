import type { ComponentType, DedupeStrategy, ErrorCode, FieldError, PropDefinition } from '@headwater/shared';
import type { Page, PageRequest, Durability, Preflight, Principal } from './base.ts';

export interface ComponentRecord {
  id: string;
  name: string;
  key?: string;
  version: string;
  type: ComponentType;
  description?: string;
  code: string;
  codeHash: string;
  /** Source of the code, as a URL: fetched from there, or only stated by the client. */
  codeUrl?: string;
  dedupe?: DedupeStrategy;
  configurableProps: PropDefinition[];
  /** The component computes further props from the configured ones. */
  hasAdditionalProps: boolean;
  /** Packages that the code imports, with the versions that were bundled. */
  dependencies: Record<string, string>;
  /** Absent: a draft. */
  publishedAt?: Date;
  createdAt: Date;
  updatedAt: Date;
}

/** As lists show it. */
export type ComponentSummary = Omit<ComponentRecord, 'code' | 'configurableProps'>;

/**
 * `componentCode` wins over `componentUrl`; `componentId` names a saved one, `componentKey` one by
 * its key (the account's own before the registry's), of `componentVersion` or the newest. Exactly
 * one way must be given.
 */
export interface ComponentChoice {
  componentId?: string;
  componentKey?: string;
  componentVersion?: string;
  componentCode?: string;
  componentUrl?: string;
}

export interface SourceCreate extends ComponentChoice {
  name?: string;
  configuredProps?: Record<string, unknown>;
  /** From ComponentProps.dynamicProps, for the same code. */
  dynamicPropsId?: string;
  /** Default: `allow`. */
  preflight?: Preflight;
  /** Default: `stored`. */
  durability?: Durability;
}

export interface ComponentListRequest extends PageRequest {
  type?: ComponentType;
  /** A part of the name or the key. */
  query?: string;
  key?: string;
  /** Only published ones, or only drafts. */
  isPublished?: boolean;
}

/**
 * The use that code was given for. The component is deleted when nothing uses it any more. A step
 * is named, so its code may lack a component's metadata. `before`: the component that runs there
 * now; it stays if the code is the same.
 */
export type CodeUse = ({ of: 'source' } | { of: 'step'; name: string }) & { before?: string };

export interface Components {
  /**
   * With a key, returns the saved component that has the same key, version, code and packages.
   * `use`: the source or step that the code came with; absent: it is saved by itself. Throws
   * CONFLICT if the account has no room for it.
   */
  save(who: Principal, choice: ComponentChoice, use?: CodeUse): Promise<ComponentRecord>;
  /**
   * By `sc_` id, also that of a version in the registry, or by a key of the account: of `version`,
   * or the one published last, or where none is published the one saved last.
   */
  get(who: Principal, idOrKey: string, version?: string): Promise<ComponentRecord>;
  /**
   * As `get`, and also by keys of the registry that the account does not have. A registry component
   * is copied into the account, once for each version. So the code that an account runs never
   * changes through others.
   */
  obtain(who: Principal, idOrKey: string, version?: string): Promise<ComponentRecord>;
  /** Saved components, newest first, without copies from the registry. */
  list(who: Principal, request: ComponentListRequest): Promise<Page<ComponentSummary>>;
  /** Throws CONFLICT while sources, or any version of a workflow, use it. */
  delete(who: Principal, idOrKey: string, version?: string): Promise<void>;
  /**
   * Makes a version the one that its key stands for in the account. A published version does not
   * change: CONFLICT where the version is published with other code. Idempotent.
   */
  publish(who: Principal, idOrKey: string): Promise<ComponentRecord>;
  /** Back to a draft. */
  unpublish(who: Principal, idOrKey: string, version?: string): Promise<ComponentRecord>;
}

/** One version in the registry. */
export interface RegistryRecord extends ComponentRecord {
  key: string;
  publishedAt: Date;
  /** The app that the key begins with, if the component uses it. */
  app?: string;
  /** All that can be had of the key, newest first. */
  versions: string[];
}

export type RegistrySummary = Omit<RegistryRecord, 'code' | 'configurableProps' | 'versions'>;

export interface RegistrySearch extends PageRequest {
  /** Beginnings of words of name, key and description; all of them. */
  query?: string;
  type?: ComponentType;
  app?: string;
}

/** The components that all accounts of this instance may deploy. */
export interface Registry {
  /**
   * The newest version of each key: first those that name or key match, then the others, by key.
   */
  search(who: Principal, request: RegistrySearch): Promise<Page<RegistrySummary>>;
  get(who: Principal, keyOrId: string, version?: string): Promise<RegistryRecord>;
  /**
   * Publishes a component of the caller's account, if its limit `maxRegistryVersions` allows.
   * Throws INVALID_REQUEST with all faults of key and version. Throws CONFLICT if the key belongs
   * to another account or the version does not grow. Idempotent for the same code.
   */
  publish(who: Principal, idOrKey: string): Promise<RegistryRecord>;
  /** As `publish`, by the operator for any account; prefixes of keys bind him less. */
  publishForOperator(componentId: string): Promise<RegistryRecord>;
  /**
   * Withdraws a version of the caller's, by default the newest. Accounts that have deployed it keep
   * it. Its version number is never free again.
   */
  withdraw(who: Principal, keyOrId: string, version?: string): Promise<RegistryRecord>;
  /** The same for any version. */
  withdrawForOperator(keyOrId: string, version?: string): Promise<RegistryRecord>;
}

/**
 * Target of an import: `draft` saves each component, `account` also publishes it in the account,
 * `registry` publishes it in the registry.
 */
export type ImportScope = 'draft' | 'account' | 'registry';

export interface ImportedComponent {
  path: string;
  /** Absent if the import of this file failed. */
  componentId?: string;
  key?: string;
  version?: string;
  error?: { code: ErrorCode; message: string; errors: FieldError[] };
}

export interface ImportRecord {
  id: string;
  scope: ImportScope;
  /** How many components there are; `components` has those that are through. */
  total: number;
  components: ImportedComponent[];
  createdAt: Date;
  endedAt?: Date;
}

/** Imports of folders of apps with their sources and actions, in the background. */
export interface Imports {
  /**
   * `files` by path, or `archive`, a gzipped tar in base64. Throws INVALID_REQUEST for paths, sizes
   * and input without a component, RATE_LIMITED if too many imports are under way. Components that
   * exist with the same code stay as they are.
   */
  start(
    who: Principal,
    input: { scope: ImportScope; files?: Record<string, string>; archive?: string },
  ): Promise<ImportRecord>;
  get(who: Principal, id: string): Promise<ImportRecord>;
}
