import path from 'node:path';
import { existingFile } from '../bundle/existing-file.ts';
import { usageError } from '../cli-error.ts';
import { loadComponentCode } from '../component-code.ts';
import { readJsonFile } from '../props/read-props.ts';

/**
 * The JSON file of a workflow, with the code of every `component_file` in the place of its name.
 * `onFile` hears of each file that belongs to it, there or not.
 */
export async function readWorkflowFile(
  file: string,
  workDir: string,
  onFile: (file: string) => void = () => undefined,
): Promise<Record<string, unknown>> {
  const absolute = path.resolve(workDir, file);
  onFile(absolute);
  const workflow = await readJsonFile(absolute, file);
  const folder = path.dirname(absolute);
  for (const part of ['steps', 'triggers']) {
    const entries: unknown = workflow[part];
    if (Array.isArray(entries))
      workflow[part] = await Promise.all(entries.map((entry: unknown) => withCode(entry, folder, onFile)));
  }
  return workflow;
}

async function withCode(entry: unknown, folder: string, onFile: (file: string) => void): Promise<unknown> {
  if (typeof entry !== 'object' || entry === null) return entry;
  const { component_file: file, ...rest } = entry as { component_file?: unknown };
  if (file === undefined) return entry;
  if (typeof file !== 'string') throw usageError('component_file has to be the path of a file');
  const absolute = path.resolve(folder, file);
  onFile(absolute);
  return { ...rest, component_code: await loadComponentCode(await existingFile(absolute, file), onFile) };
}
