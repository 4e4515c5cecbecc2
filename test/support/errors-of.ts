/**
 * Errors that snippets throw, reject with or pass to a callback, by their text: name, code and
 * message. Each snippet is the body of an async function. Its argument `load` returns a module of
 * Node; `called` turns a function with a callback into a promise. The function is sent as text, to
 * a plain Node and to an isolate.
 */
export async function errorsOf(snippets: readonly string[]): Promise<Record<string, string>> {
  const load = (name: string): unknown => process.getBuiltinModule(name);
  const called = (work: (done: (error: unknown) => void) => void): Promise<void> =>
    new Promise((resolve, reject) => work((error) => (error ? reject(error as Error) : resolve())));
  const AsyncFunction = (async () => undefined).constructor as new (
    ...text: string[]
  ) => (...args: unknown[]) => Promise<unknown>;
  const told = (error: unknown): string => {
    const { name, code, message, stack } = error as Partial<Record<string, unknown>>;
    const said = `${String(name)} ${String(code)} ${error instanceof Error} ${String(message)}`;
    // Node's own errors have their code in their text, and in the first line of their stack.
    const [head] = error instanceof Error ? [String(error), String(stack)].map((text) => text.split(':')[0]) : [];
    return `${said} | ${head} | ${error instanceof Error ? error.constructor.name : ''}`;
  };
  const found: Record<string, string> = {};
  for (const snippet of snippets) {
    try {
      const value = await new AsyncFunction('load', 'called', snippet)(load, called);
      found[snippet] = `no error, ${typeof value}`;
    } catch (error) {
      found[snippet] = told(error);
    }
  }
  return found;
}
