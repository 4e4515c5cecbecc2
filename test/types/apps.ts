import {
  type AppAuth,
  defineAction,
  defineApp,
  defineSource,
  type OptionsInput,
  type TimerEvent,
} from '@headwater/types';
import { same } from './same.ts';

declare module '@headwater/types' {
  interface AppAuths {
    declared_in_place: { api_key: string };
  }
}

const github = defineApp({
  type: 'app',
  app: 'github',
  propDefinitions: {
    repo: {
      type: 'string',
      label: 'Repository',
      async options({ page, prevContext }: OptionsInput) {
        same<number>()(page);
        const names = await this.listRepos(page);
        return { options: names.map((name) => ({ label: name, value: name })), context: { after: prevContext } };
      },
    },
    state: { type: 'string', options: ['open', 'closed'], optional: true },
    labels: { type: 'string[]', description: 'Labels' },
    perPage: { type: 'integer', min: 1, max: 100, default: 30, optional: true },
  },
  methods: {
    headers() {
      return { authorization: `Bearer ${this.$auth.oauth_access_token}` };
    },
    async listRepos(page: number) {
      same<string>()(this.headers().authorization);
      return [`repo-${page}`];
    },
    async issue(repo: string, number: number): Promise<{ repo: string; number: number; title: string }> {
      return { repo, number, title: JSON.stringify(this.headers()) };
    },
  },
});

const keyed = defineApp<{ api_key: string; region: 'eu' | 'us' }>()({
  type: 'app',
  app: 'keyed',
  methods: {
    base() {
      same<'eu' | 'us'>()(this.$auth.region);
      // @ts-expect-error -- the account has no such field
      void this.$auth.oauth_access_token;
      // @ts-expect-error -- the app has no such method
      this.nothing();
      return this.$auth.api_key;
    },
  },
});

same<'github'>()(github.app);

defineSource({
  name: 'Uses apps',
  version: '0.1.0',
  dedupe: 'unique',
  props: {
    github,
    keyed,
    inPlace: { type: 'app', app: 'declared_in_place' },
    unknown: { type: 'app', app: 'unknown_app' },
    repo: { propDefinition: [github, 'repo'] },
    state: { propDefinition: [github, 'state'] },
    mustState: { propDefinition: [github, 'state'], optional: false },
    labels: { propDefinition: [github, 'labels', { fixed: 1 }], optional: true },
    perPage: { propDefinition: [github, 'perPage', (configured) => ({ repo: configured['repo'] })], label: 'Size' },
    asText: { propDefinition: [github, 'perPage'], type: 'string' },
    narrowed: { propDefinition: [github, 'repo'], options: ['a', 'b'] },
    own: {
      type: 'string',
      async options({ query }: OptionsInput) {
        same<string | undefined>()(query);
        same<string>()(this.repo);
        return [await this.title(1)];
      },
    },
  },
  methods: {
    async title(number: number) {
      const issue = await this.github.issue(this.repo, number);
      return issue.title;
    },
  },
  async run() {
    same<string>()(this.repo);
    same<'open' | 'closed' | undefined>()(this.state);
    same<'open' | 'closed'>()(this.mustState);
    same<string[] | undefined>()(this.labels);
    same<number>()(this.perPage);
    same<string>()(this.asText);
    same<'a' | 'b'>()(this.narrowed);
    same<string>()(await this.title(2));
    same<string[]>()(await this.github.listRepos(1));
    same<AppAuth>()(this.github.$auth);
    same<string>()(this.github.$auth.oauth_access_token);
    same<string>()(this.keyed.$auth.api_key);
    same<string>()(this.keyed.base());
    same<string>()(this.inPlace.$auth.api_key);
    same<AppAuth>()(this.unknown.$auth);
    // @ts-expect-error -- the app takes a number
    await this.github.issue(this.repo, '1');
    // @ts-expect-error -- the app has no such method
    this.github.deleteEverything();
    // @ts-expect-error -- methods of the app are not the component's
    this.listRepos(1);
    // @ts-expect-error -- $auth is the app's
    void this.$auth;
  },
});

defineAction({
  name: 'Takes a prop of an app without accounts',
  version: '1',
  type: 'action',
  props: { github: { ...github, optional: true }, repo: { propDefinition: [github, 'repo'] } },
  run() {
    same<string | undefined>()(this.github.$auth.oauth_uid);
    return this.github.headers().authorization ?? this.repo;
  },
});

defineSource({
  name: 'Wrong names',
  version: '1',
  props: {
    github,
    // @ts-expect-error -- the app has no such prop
    repo: { propDefinition: [github, 'repository'] },
    // @ts-expect-error -- the name is missing
    nameless: { propDefinition: [github] },
    // @ts-expect-error -- the app is missing
    appless: { propDefinition: ['repo'] },
    // @ts-expect-error -- the app has no props at all
    other: { propDefinition: [keyed, 'anything'] },
  },
  run() {},
});

// @ts-expect-error -- the slug is missing
defineApp({ type: 'app', methods: {} });

defineApp({
  type: 'app',
  app: 'acme',
  propDefinitions: {
    // @ts-expect-error -- min is for numbers
    name: { type: 'string', min: 1 },
  },
});

defineApp({
  type: 'app',
  app: 'acme',
  // @ts-expect-error -- there is no such type
  propDefinitions: { a: { type: 'text' }, timer: { type: '$.interface.timer' }, db: '$.service.db' },
});

const plain = {
  db: '$.service.db',
  url: { type: 'string', optional: true },
  repo: { propDefinition: [github, 'repo'] },
};

defineSource({
  name: 'Spreads props of a plain object, whose literals are widened',
  version: '1',
  props: { ...plain, topic: { type: 'string' } },
  run() {
    same<string>()(this.topic);
    this.db.set(this.url, this.repo);
    // @ts-expect-error -- there is no such prop
    void this.other;
  },
});

const feed = defineApp({
  type: 'app',
  app: 'feed',
  propDefinitions: { timer: { type: '$.interface.timer', default: { intervalSeconds: 900 } } },
});

defineSource({
  name: 'Takes its timer from the app',
  version: '1',
  props: { feed, timer: { propDefinition: [feed, 'timer'] } },
  run(event) {
    same<TimerEvent>()(event);
    same<number | undefined>()(this.timer.intervalSeconds);
  },
});

defineSource({
  name: 'Spreads props that are kept as they are',
  version: '1',
  props: { ...({ db: '$.service.db', url: { type: 'string', optional: true } } as const) },
  run() {
    same<string | undefined>()(this.url);
  },
});
