export { lockEnvironmentVariables } from './environment-variables.sql.ts';
export { createEnvironment } from './environment.ts';
export { createOpenEnvironment, type OpenEnvironment } from './open-environment.ts';
