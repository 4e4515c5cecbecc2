/*
 * A component that acts as the page of a conformance test. It gives the harness the globals of a
 * worker, and evaluates the scripts as one script, because they share top-level names (modules
 * would not). It emits the results.
 */
export const PAGE_COMPONENT = `
export default {
  name: 'conformance page',
  version: '1',
  async run({ path, search, harness, code, timeoutMs }) {
    const { eval: evaluate, setTimeout: later, fetch: fetchAbsolute, URL: Address } = globalThis;
    const emit = this.$emit;
    const location = new Address('https://page.example/' + path + search);
    const define = (name, value) => Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
    define('self', globalThis);
    define('location', location);
    define('GLOBAL', { isWindow: () => false, isWorker: () => true, isShadowRealm: () => false });
    const resolve = (input) => (typeof input === 'string' ? new Address(input, location).href : input);
    define('fetch', (input, init) => fetchAbsolute(resolve(input), init));
    define('Request', new Proxy(Request, {
      construct: (target, [input, ...rest], derived) => Reflect.construct(target, input === undefined ? [] : [resolve(input), ...rest], derived),
    }));
    const { redirect } = Response;
    Response.redirect = (url, ...rest) => redirect.call(Response, resolve(url), ...rest);
    const faults = [];
    await new Promise((finish) => {
      evaluate(harness);
      add_completion_callback((tests) => finish(tests));
      try {
        evaluate(code);
      } catch (error) {
        faults.push([path + ' throws', 1, String(error)]);
      }
      // A run waits for its timers, but not for this one.
      later(() => globalThis.timeout(), timeoutMs).unref();
      if (faults.length > 0) globalThis.done();
    }).then((tests) => {
      const results = [...faults, ...tests.map((test) => [test.name.slice(0, 300), test.status, (test.message ?? '').slice(0, 300)])];
      for (let at = 0; at < results.length; at += 200) emit(results.slice(at, at + 200));
    });
  },
};`;
