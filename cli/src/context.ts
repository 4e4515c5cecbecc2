import type { ApiClient } from './api/client.ts';
import type { ServerChoice } from './config/choose-server.ts';
import type { Profiles } from './config/profiles.ts';
import type { CommandInput } from './command-input.ts';
import type { CliEnvironment } from './environment.ts';
import type { Ask } from './terminal/ask.ts';
import type { Output } from './terminal/output.ts';

export interface CommandContext {
  input: CommandInput;
  /** Throws without a login. `signal` ends its requests; default: Ctrl-C. */
  api(signal?: AbortSignal): Promise<ApiClient>;
  /** A client for another server or key. */
  connect(server: { url: string; apiKey: string }): ApiClient;
  /** Which server the options, the environment and the profile lead to, with or without a key. */
  server(): Promise<ServerChoice>;
  profiles: Profiles;
  environment: CliEnvironment;
  output: Output;
  ask: Ask;
  /** Relative paths begin here. */
  workDir: string;
  /** Text of standard input, to its end. */
  readStdin(): Promise<string>;
  /** Aborts with Ctrl-C. */
  signal: AbortSignal;
}
