import { bundleFiles } from './bundle/bundle-files.ts';
import { readTextFile } from './props/read-props.ts';

/**
 * The code of a local component as the server takes it: the file as it is, or one file made of all
 * that it imports beside it. `onFile` hears of each of them.
 */
export async function loadComponentCode(
  file: string,
  onFile: (file: string) => void = () => undefined,
): Promise<string> {
  onFile(file);
  const { code, files } = await bundleFiles(file, onFile);
  files.forEach(onFile);
  return code ?? readTextFile(file);
}
