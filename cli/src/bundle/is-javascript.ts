/** Whether code is JavaScript as it stands, without types. */
export async function isJavaScript(code: string): Promise<boolean> {
  const { transform } = await import('esbuild');
  return transform(code, { loader: 'js', logLevel: 'silent' }).then(
    () => true,
    () => false,
  );
}
