/** Settings of `hw` from the environment. Only main.ts reads it. */
export interface CliEnvironment {
  url?: string;
  apiKey?: string;
  profile?: string;
  /** Folder of the configuration. */
  configDir: string;
  noColor: boolean;
  forceColor: boolean;
  /** All of it, for the processes of `hw server`. */
  inherited: Readonly<Record<string, string | undefined>>;
}

/** Empty variables count as not set. */
export function readEnvironment(env: Readonly<Record<string, string | undefined>>, homeDir: string): CliEnvironment {
  const get = (name: string) => (env[name] === '' ? undefined : env[name]);
  const url = get('HEADWATER_URL');
  const apiKey = get('HEADWATER_API_KEY');
  const profile = get('HEADWATER_PROFILE');
  const xdg = get('XDG_CONFIG_HOME');
  return {
    ...(url === undefined ? {} : { url }),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(profile === undefined ? {} : { profile }),
    // A relative path there is invalid by the specification of these folders, and to be ignored.
    configDir: `${xdg?.startsWith('/') === true ? xdg : `${homeDir}/.config`}/headwater`,
    noColor: get('NO_COLOR') !== undefined,
    forceColor: get('FORCE_COLOR') !== undefined && get('FORCE_COLOR') !== '0',
    inherited: env,
  };
}
