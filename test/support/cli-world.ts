import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { type CliUser, createCliUser } from './cli.ts';
import { type Headwater, sharedHeadwater, startHeadwater } from './headwater.ts';

/**
 * A source that its users would write: an endpoint, props with and without a value, a run that
 * logs, emits and can fail.
 */
export const ORDERS_SOURCE = `export default {
  name: "Orders", key: "orders", version: "0.1.0",
  props: { http: "$.interface.http", currency: { type: "string", optional: true, default: "EUR" },
    limit: { type: "integer", optional: true }, note: { type: "string", optional: true } },
  run(event) {
    console.log("got", event.body ?? "nothing");
    if (event.body?.fail) throw new Error("ouch");
    this.$emit({ body: event.body ?? null, currency: this.currency, limit: this.limit, note: this.note }, { summary: "An order" });
  },
};`;

export interface CliWorld {
  readonly hw: Headwater;
  /** Logged in to it. */
  readonly user: CliUser;
  /** A file in the folder that the user works in. */
  write(name: string, text: string): Promise<void>;
}

/**
 * A node and a user of it, for one file of tests. Call it once, at the top; `shared`: an account of
 * the node that files share.
 */
export function cliWorld({ shared = false } = {}): CliWorld {
  let made: { hw: Headwater; user: CliUser } | undefined;
  beforeAll(async () => {
    const hw = await (shared ? sharedHeadwater() : startHeadwater());
    made = { hw, user: await createCliUser({ HEADWATER_URL: hw.url, HEADWATER_API_KEY: hw.apiKey }) };
  });
  afterAll(async () => {
    await made?.user.remove();
    await made?.hw.stop();
  });
  const there = () => {
    if (made === undefined) throw new Error('The world is there from beforeAll on');
    return made;
  };
  return {
    get hw() {
      return there().hw;
    },
    get user() {
      return there().user;
    },
    write: (name, text) => writeFile(path.join(there().user.workDir, name), text),
  };
}
