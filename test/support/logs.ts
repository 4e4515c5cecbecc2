import { pino } from 'pino';

/** Log of the parts that a test starts. TEST_LOG_LEVEL=debug shows it. */
export const testLog = pino({ level: process.env['TEST_LOG_LEVEL'] ?? 'silent' });
