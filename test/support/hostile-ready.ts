import { untilHostileServer } from './hostile-server.ts';

// Loaded before each attack.
await untilHostileServer();
