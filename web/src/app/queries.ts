import { QueryClient } from '@tanstack/react-query';
import { HeadwaterProblem } from '@headwater/client';

const MAX_RETRIES = 3;
const MAX_WAIT_MS = 30_000;

/**
 * The server asks for patience, or is not there for a moment. Anything else would be refused again.
 */
function mayRetry(failures: number, error: unknown): boolean {
  if (error instanceof HeadwaterProblem && error.status !== 429 && error.status !== 503) return false;
  return failures < MAX_RETRIES;
}

function retryDelayMs(failures: number, error: unknown): number {
  const askedSeconds = error instanceof HeadwaterProblem ? error.problem.retry_after_seconds : undefined;
  return Math.min(askedSeconds === undefined ? 500 * 2 ** failures : askedSeconds * 1_000, MAX_WAIT_MS);
}

export const queryClient = new QueryClient({
  defaultOptions: {
    // Without a network a request fails, and the page says so. By default it waits in silence.
    queries: {
      networkMode: 'always',
      retry: mayRetry,
      retryDelay: retryDelayMs,
      staleTime: 5_000,
      throwOnError: false,
    },
    // A change that was refused for its rate has not begun; one that was lost may have.
    mutations: {
      networkMode: 'always',
      retry: (failures, error) => error instanceof HeadwaterProblem && error.status === 429 && failures < MAX_RETRIES,
      retryDelay: retryDelayMs,
    },
  },
});
