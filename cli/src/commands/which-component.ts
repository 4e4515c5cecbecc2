import { nearest } from '@headwater/shared';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { ApiClient } from '../api/client.ts';
import type { Component } from '../api/resources.ts';
import { CliError, usageError } from '../cli-error.ts';
import { COMPONENT_FILE } from '../bundle/component-file.ts';
import { existingFile } from '../bundle/existing-file.ts';
import { loadComponentCode } from '../component-code.ts';

/** How the API is told which component. */
export interface ComponentChoice {
  parameters: Record<string, string>;
  /** For sentences. */
  described: string;
}

/**
 * Resolves a user's word: an existing file, a URL, the id of a saved component, or a key with
 * optional `@version`.
 */
export async function askForComponent(word: string, workDir: string): Promise<ComponentChoice> {
  if (word.trim() === '') throw usageError('An empty word names no component');
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
  if (/[\\/]/.test(word)) await existingFile(file, word);
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
    return ofRegistry(api, key, version);
  }
}

async function ofRegistry(api: ApiClient, key: string, version: string | undefined): Promise<Component> {
  try {
    return await api.get<Component>(`/components/registry/${encodeURIComponent(key)}`, { version });
  } catch (error) {
    if (!(error instanceof CliError) || error.exit !== 'notFound') throw error;
    const similar = await nearestKeys(api, key);
    if (version !== undefined && similar.includes(key)) {
      throw new CliError('notFound', `There is no version ${version} of ${key}`, { hint: `See: hw describe ${key}` });
    }
    throw new CliError('notFound', `${key} is no file here, and no component of the account or the registry`, {
      code: error.code,
      hint:
        similar.length > 0
          ? `Did you mean ${similar.join(', ')}?`
          : 'See: hw list registry   or name a file, as ./x.mjs',
      cause: error,
    });
  }
}

/**
 * Whether a choice would lead to the same component again. A key without a version may be newer.
 */
export function isSameComponent(component: Component, { parameters }: ComponentChoice): boolean {
  const { component_id: id, component_key: key, component_version: version } = parameters;
  const { component_code: code, component_url: url } = parameters;
  if (id !== undefined) return id === component.id;
  if (code !== undefined) return code === component.code && component.code_url === null;
  if (url !== undefined) return false;
  return key === component.key && version === component.version;
}

/** `slack-send@1.2.0`. */
export function splitKey(word: string): { key: string; version?: string } {
  const at = word.lastIndexOf('@');
  return at < 1 ? { key: word } : { key: word.slice(0, at), version: word.slice(at + 1) };
}

/**
 * By key, of the first place that has it: the account's `components`, or the `components/registry`.
 */
export async function findComponent(
  api: ApiClient,
  places: readonly ('components' | 'components/registry')[],
  word: string,
): Promise<Component | undefined> {
  const { key, version } = splitKey(word);
  for (const place of places) {
    try {
      return await api.get<Component>(`/${place}/${encodeURIComponent(key)}`, { version });
    } catch (error) {
      if (!(error instanceof CliError) || error.exit !== 'notFound') throw error;
    }
  }
  return undefined;
}

export async function readCode(file: string, word: string): Promise<string> {
  return loadComponentCode(await existingFile(file, word));
}

/** Which keys of the account or the registry may have been meant. */
async function nearestKeys(api: ApiClient, key: string): Promise<string[]> {
  const lists = await Promise.all(
    ['/components', '/components/registry'].map((list) => api.all<Component>(list).catch(() => [])),
  );
  return nearest(
    key,
    lists.flat().flatMap((component) => component.key ?? []),
  );
}
