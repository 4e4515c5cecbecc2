import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { ApiClient } from '../api/client.ts';
import type { Component } from '../api/resources.ts';
import { CliError, usageError } from '../cli-error.ts';
import { COMPONENT_FILE, loadComponentCode } from '../component-code.ts';
import { nearest } from '../names/nearest.ts';

/** How the API is told which component. */
export interface ComponentChoice {
  parameters: Record<string, string>;
  /** For sentences. */
  described: string;
}

/** What the word of a user means: a file that is there, a URL, the id of a saved component, or a key, `key@version` too. */
export async function chooseComponent(word: string, workDir: string): Promise<ComponentChoice> {
  if (/^https?:\/\//.test(word)) {
    return { parameters: { component_url: word }, described: word };
  }
  const file = path.resolve(workDir, word);
  if (COMPONENT_FILE.test(word) || existsSync(file)) {
    const code = await readCode(file, word);
    return { parameters: { component_code: code }, described: word };
  }
  if (/^sc_[0-9A-Za-z]{20}$/.test(word)) {
    return { parameters: { component_id: word }, described: word };
  }
  if (/[\\/]/.test(word)) throw await noFile(file, word);
  const { key, version } = splitKey(word);
  const parameters = { component_key: key, ...(version === undefined ? {} : { component_version: version }) };
  return { parameters, described: word };
}

/** The component of a choice as the server knows it; code and URLs are saved for that. */
export async function saveComponent(api: ApiClient, { parameters }: ComponentChoice): Promise<Component> {
  const { component_id: id, component_key: key, component_version: version } = parameters;
  if (id !== undefined) return api.get<Component>(`/components/${id}`);
  if (key === undefined) return api.send<Component>('POST', '/components', parameters);
  try {
    return await api.get<Component>(`/components/${encodeURIComponent(key)}`, { version });
  } catch (error) {
    if (!(error instanceof CliError) || error.exit !== 'notFound') throw error;
    return api.get<Component>(`/components/registry/${encodeURIComponent(key)}`, { version });
  }
}

/** `slack-send@1.2.0`. */
export function splitKey(word: string): { key: string; version?: string } {
  const at = word.lastIndexOf('@');
  return at < 1 ? { key: word } : { key: word.slice(0, at), version: word.slice(at + 1) };
}

export async function readCode(file: string, word: string): Promise<string> {
  return loadComponentCode(await existingFile(file, word));
}

/** Throws with files of a similar name where it is not there. */
export async function existingFile(file: string, word: string): Promise<string> {
  if (!existsSync(file)) throw await noFile(file, word);
  return file;
}

async function noFile(file: string, word: string) {
  // A folder that is not there has no files of a similar name.
  const beside = await readdir(path.dirname(file)).catch(() => []);
  const similar = nearest(
    path.basename(file),
    beside.filter((name) => COMPONENT_FILE.test(name)),
  );
  const hint = similar.length > 0 ? `Did you mean ${similar.join(', ')}?` : 'hw init source <name> makes one';
  return usageError(`There is no file ${word}`, hint);
}
