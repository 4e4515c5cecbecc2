import { bundleFiles } from './bundle/bundle-files.ts';
import { readTextFile } from './props/read-props.ts';

/**
 * The code of a local component as the server takes it: the file as it is, or one file made of all
 * that it imports beside it.
 */
export async function loadComponentCode(file: string): Promise<string> {
  const { code } = await bundleFiles(file);
  return code ?? readTextFile(file);
}
