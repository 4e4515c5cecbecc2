/** What a file of a form looks like to the component. */
interface FormFile {
  filename: string;
  mimetype: string;
  /** Bytes. */
  size: number;
  encoding: 'base64';
  content: string;
}

type FormField = string | FormFile;

/**
 * JSON text of a multipart body: one key a field, an array where a field is repeated. Undefined where the body is not what
 * its content type says.
 */
export async function multipartJson(contentType: string, bytes: Buffer): Promise<string | undefined> {
  const form = await parseForm(contentType, bytes);
  if (form === undefined) return undefined;
  const fields = new Map<string, FormField[]>();
  for (const [name, value] of form) {
    const field = typeof value === 'string' ? value : await presentFile(value);
    const known = fields.get(name);
    if (known === undefined) fields.set(name, [field]);
    else known.push(field);
  }
  const entries = [...fields].map(([name, values]) => [name, values.length === 1 ? values[0] : values] as const);
  // fromEntries defines own properties: a field named `__proto__` is a field.
  return JSON.stringify(Object.fromEntries(entries));
}

async function parseForm(contentType: string, bytes: Buffer): Promise<FormData | undefined> {
  try {
    return await new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType } }).formData();
  } catch {
    return undefined; // no boundary, or a broken part: the component gets the string
  }
}

async function presentFile(file: File): Promise<FormFile> {
  const content = Buffer.from(await file.arrayBuffer());
  return {
    filename: file.name,
    mimetype: file.type,
    size: content.length,
    encoding: 'base64',
    content: content.toString('base64'),
  };
}
