export interface Welcome {
  publicUrl: string;
  /**
   * A key that was made now; absent where the operator gave one, which is not repeated on a screen.
   */
  apiKey?: string;
  write(text: string): void;
}

/** Server that `hw login` uses by default. */
const DEFAULT_URL = 'http://127.0.0.1:3000';

const FIRST_SOURCE = {
  component_code:
    'export default { name: "Hello", version: "0.0.1", props: { http: "$.interface.http" }, run(event) { this.$emit(event.body ?? event.query); } }',
};

/** First steps for a new user, printed after the first start. The key is shown only this once. */
export function printWelcome({ publicUrl, apiKey, write }: Welcome): void {
  const key = apiKey ?? '$HEADWATER_API_KEY';
  const keyLine = apiKey === undefined ? 'the one in HEADWATER_API_KEY' : `${apiKey}   (shown this once)`;
  const isDefault = publicUrl === DEFAULT_URL;
  write(`
  Headwater is ready.

  URL      ${publicUrl}
  API key  ${keyLine}

  The next steps, in another terminal and this folder; the first one asks for the key:

npx hw login${isDefault ? '' : ` --url ${publicUrl}`}
npx hw init source hello
npx hw dev hello.mjs

  Or without the command line. A first source:

curl ${publicUrl}/v1/sources -H "Authorization: Bearer ${key}" -H 'Content-Type: application/json' -d '${JSON.stringify(FIRST_SOURCE)}'

  Send anything to the endpoint_url in the answer, then look at what it emitted:

curl ${publicUrl}/v1/users/me/sources -H "Authorization: Bearer ${key}"
curl ${publicUrl}/v1/sources/<id>/event_summaries -H "Authorization: Bearer ${key}"

`);
}

/** Prints the key of a first start that failed later. The next start does not make another key. */
export function printKey(apiKey: string, write: (text: string) => void): void {
  write(`\n  API key  ${apiKey}   (made before the start failed, and shown this once)\n\n`);
}
