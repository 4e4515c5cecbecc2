import { publicUrl } from './base-url.ts';
import { noteConnectionLost } from './connection.ts';

const PROBE_MS = 1_000;

/**
 * Loads a part of the UI. While the server is away that waits until it is back: the router would
 * reload the page, and leave the user with the browser's own message.
 */
export function whenBack<T>(load: () => Promise<T>): () => Promise<T> {
  return async () => {
    try {
      return await load();
    } catch (error) {
      // The server is there: its files are others by now, which the router finds out.
      if (await isBack()) throw error;
      noteConnectionLost();
      while (!(await isBack())) await new Promise((resolve) => setTimeout(resolve, PROBE_MS));
      return load();
    }
  };
}

async function isBack(): Promise<boolean> {
  try {
    return (await fetch(publicUrl('/healthz'))).ok;
  } catch {
    return false;
  }
}
