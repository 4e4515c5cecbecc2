import path from 'node:path';
import type { Component } from '../api/resources.ts';
import { existingFile } from '../bundle/existing-file.ts';
import { COMPONENT_FILE } from '../bundle/component-file.ts';
import { askForComponent, type ComponentChoice } from '../commands/which-component.ts';
import { loadComponentCode } from '../component-code.ts';

/** A file of the folder, a key, a URL or an id. */
export async function stackComponentChoice(word: string, folder: string): Promise<ComponentChoice> {
  if (!COMPONENT_FILE.test(word) || /^https?:/.test(word)) return askForComponent(word, folder);
  const code = await loadComponentCode(await existingFile(path.resolve(folder, word), word));
  return { parameters: { component_code: code }, described: word };
}

/** Whether the account runs what the file says: a key without a version is content with any. */
export function isComponent(component: Component, { parameters }: ComponentChoice): boolean {
  const { component_id: id, component_key: key, component_version: version } = parameters;
  const { component_code: code, component_url: url } = parameters;
  if (id !== undefined) return id === component.id;
  if (code !== undefined) return code === component.code;
  if (url !== undefined) return url === component.code_url;
  return key === component.key && (version === undefined || version === component.version);
}
