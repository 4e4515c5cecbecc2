import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import { SANDBOX_LAYERS } from '../../engine/src/index.ts';
import { readConfig } from '../../api/src/config.ts';
import { printWelcome } from '../../api/src/print-welcome.ts';

const KEY = 'k'.repeat(20);

function problemsOf(env: Record<string, string>, argv: string[] = []): string[] {
  const outcome = readConfig(env, argv);
  return outcome.ok ? [] : outcome.problems;
}

test('nothing set is a node of every role on loopback', () => {
  expect(readConfig({ PATH: '/bin' }, [])).toEqual({
    ok: true,
    config: {
      role: 'all',
      host: '127.0.0.1',
      port: 3000,
      portIsSet: false,
      publicUrl: 'http://127.0.0.1:3000',
      dataDir: '.headwater',
      egressAllow: [],
      logLevel: 'info',
      sandbox: {},
    },
  });
});

test('a provider of sign-ins has an issuer over TLS and a client', () => {
  const oidc = { HEADWATER_OIDC_ISSUER: 'https://login.example.com/t/', HEADWATER_OIDC_CLIENT_ID: 'hw' };
  const config = readConfig({ ...oidc, HEADWATER_OIDC_EMAIL_DOMAINS: 'Example.com, b.example' }, []);
  expect(config.ok && config.config.oidc).toEqual({
    issuer: 'https://login.example.com/t/',
    clientId: 'hw',
    emailDomains: ['example.com', 'b.example'],
  });
  expect(problemsOf({ HEADWATER_OIDC_ISSUER: 'https://login.example.com' })).toEqual([
    'HEADWATER_OIDC_ISSUER and HEADWATER_OIDC_CLIENT_ID must be set together',
  ]);
  for (const issuer of ['http://login.example.com', 'login.example.com', 'https://login.example.com/?a=1'])
    expect(problemsOf({ ...oidc, HEADWATER_OIDC_ISSUER: issuer })).toEqual([
      expect.stringMatching(/^HEADWATER_OIDC_ISSUER must be an https URL/),
    ]);
});

test('the mail server and the sender of e-mails are set together, and are checked', () => {
  const mail = {
    HEADWATER_SMTP_URL: 'smtps://u:p@mail.example:465',
    HEADWATER_MAIL_FROM: 'Head Water <a@example.com>',
  };
  const outcome = readConfig(mail, []);
  expect(outcome.ok && outcome.config.mail).toEqual({
    smtpUrl: mail.HEADWATER_SMTP_URL,
    from: mail.HEADWATER_MAIL_FROM,
  });
  expect(problemsOf({ HEADWATER_SMTP_URL: 'smtp://mail.example' })).toEqual([
    'HEADWATER_SMTP_URL and HEADWATER_MAIL_FROM must be set together',
  ]);
  for (const url of ['mail.example:25', 'http://mail.example', 'smtp://']) {
    expect(problemsOf({ ...mail, HEADWATER_SMTP_URL: url })).toEqual([
      expect.stringMatching(/^HEADWATER_SMTP_URL must/),
    ]);
  }
  for (const from of ['nobody', 'a@b, c@d', 'A <a@b> x', 'a@b\nBcc: c@d']) {
    expect(problemsOf({ ...mail, HEADWATER_MAIL_FROM: from })).toEqual([
      expect.stringMatching(/^HEADWATER_MAIL_FROM must/),
    ]);
  }
});

test('every variable is taken, and an empty one is as good as none', () => {
  const outcome = readConfig(
    {
      PORT: '8080',
      HOST: '::',
      DATABASE_URL: 'postgres://u:p@db/hw',
      HEADWATER_DATA_DIR: '/data',
      HEADWATER_API_KEY: KEY,
      HEADWATER_ADMIN_KEY: '',
      HEADWATER_EGRESS_ALLOW: '10.0.0.0/8, ::1/128,127.0.0.1',
      HEADWATER_DNS_SERVERS: '1.1.1.1, 127.0.0.1:5353,[::1]:5353,::1',
      HEADWATER_ENDPOINT_DOMAIN: 'Hooks.Example.com:8443',
      HEADWATER_ENCRYPTION_KEY: 'e'.repeat(20),
      HEADWATER_LOG_LEVEL: 'warn',
      HEADWATER_OAUTH_REDIRECT_ORIGINS: 'https://App.Example.com/, http://10.0.0.1:8080',
      HEADWATER_RETRY_SCHEDULE_SECONDS: '1,2.5',
      HEADWATER_BUSY_REQUESTS_PER_SECOND: '500',
      HEADWATER_SANDBOX_PROCESSES: '8',
      HEADWATER_SANDBOX_MEMORY_MB: '1024',
      HEADWATER_SANDBOX_CGROUP: '/sys/fs/cgroup/headwater',
    },
    ['api'],
  );
  expect(outcome).toEqual({
    ok: true,
    config: {
      role: 'api',
      host: '::',
      port: 8080,
      portIsSet: true,
      publicUrl: 'http://localhost:8080',
      databaseUrl: 'postgres://u:p@db/hw',
      dataDir: '/data',
      apiKey: KEY,
      egressAllow: ['10.0.0.0/8', '::1/128', '127.0.0.1'],
      dnsServers: ['1.1.1.1', '127.0.0.1:5353', '[::1]:5353', '::1'],
      oauthRedirectOrigins: ['https://app.example.com', 'http://10.0.0.1:8080'],
      endpointDomain: 'hooks.example.com:8443',
      encryptionKey: 'e'.repeat(20),
      logLevel: 'warn',
      busyRequestsPerSecond: 500,
      retryScheduleSeconds: [1, 2.5],
      sandbox: { maxProcesses: 8, maxRssMb: 1024, controlGroup: '/sys/fs/cgroup/headwater' },
    },
  });
});

test('workers are a number or auto, and a worker is told which one it is', () => {
  const workersOf = (text: string) => {
    const outcome = readConfig({ HEADWATER_WORKERS: text }, []);
    return outcome.ok && outcome.config.workers;
  };
  expect([workersOf('3'), workersOf('auto'), workersOf('')]).toEqual([3, availableParallelism(), undefined]);
  for (const text of ['0', '65', 'many', '1.5']) {
    expect(problemsOf({ HEADWATER_WORKERS: text })).toEqual([expect.stringMatching(/^HEADWATER_WORKERS must be auto/)]);
  }
  const worker = readConfig({}, ['api', '--worker', '2', '--shares-embedded']);
  expect(worker).toMatchObject({ ok: true, config: { role: 'api', worker: { number: 2, sharesEmbedded: true } } });
});

test('every problem is reported at once, by the name of the variable, without its value', () => {
  const secret = 'too-short';
  const problems = problemsOf(
    {
      PORT: '70000',
      DATABASE_URL: 'mysql://x',
      HEADWATER_API_KEY: secret,
      HEADWATER_ADMIN_KEY: `${KEY} ${KEY}`,
      HEADWATER_EGRESS_ALLOW: '10.0.0.0/33',
      HEADWATER_PUBLIC_URL: 'https://example.com/?query',
      HEADWATER_ENDPOINT_DOMAIN: 'https://x',
      HEADWATER_ROLE: 'worker',
      HEADWATER_LOG_LEVEL: 'loud',
      HEADWATER_RETRY_SCHEDULE_SECONDS: '5,soon',
    },
    ['both'],
  );
  expect(problems.map((problem) => problem.split(' ')[0])).toEqual([
    'PORT',
    'DATABASE_URL',
    'HEADWATER_API_KEY',
    'HEADWATER_ADMIN_KEY',
    'HEADWATER_EGRESS_ALLOW',
    'HEADWATER_PUBLIC_URL',
    'HEADWATER_ENDPOINT_DOMAIN',
    'HEADWATER_ROLE',
    'HEADWATER_LOG_LEVEL',
    'HEADWATER_RETRY_SCHEDULE_SECONDS',
    'the',
  ]);
  expect(problems.join('\n')).not.toContain(secret);
});

test.each([
  [
    'HOST',
    ['http://x', 'not a host', '256.1.1.1', '127.0.0.1:80', '::g'],
    ['::', 'fe80::1%eth0', 'my_host', 'a.example.'],
  ],
  ['DATABASE_URL', ['postgres://u:p@host:99999/d', 'postgres://host:port/d'], ['postgres:///d?host=/run/postgresql']],
  ['HEADWATER_ENCRYPTION_KEY', ['short', `${' '.repeat(20)}short`], ['0'.repeat(64), 'a passphrase with spaces']],
  ['HEADWATER_ENCRYPTION_KEYS_OLD', ['short', `${'0'.repeat(64)},short`], [`${'0'.repeat(64)},${'1'.repeat(64)}`]],
  ['HEADWATER_PUBLIC_URL', ['https://:password@a.example', 'https://a.example/v1'], ['https://a.example:8443/hw/']],
  ['HEADWATER_NPM_REGISTRY', ['https://:password@a.example/'], ['https://a.example/npm/']],
  ['HEADWATER_ENDPOINT_DOMAIN', ['a.example:0', 'a.example:99999', 'a:1:2'], ['a.example:8443', 'A.example']],
  ['HEADWATER_OAUTH_REDIRECT_ORIGINS', ['https://*.a.example'], ['https://a.example,http://b.example:81']],
  ['HEADWATER_CORS_ORIGINS', ['https://*.a.example', '*,https://a.example', 'null'], ['https://a.example', '*']],
  ['HEADWATER_PORTAL_FRAME_ORIGINS', ['https://*.a.example'], ['https://a.example,http://b.example:81']],
])('nonsense in %s is refused at the start, and sensible values are not', (name, wrong, right) => {
  for (const value of wrong) {
    const problems = problemsOf({ [name]: value });
    expect([value, problems]).toEqual([value, [expect.stringMatching(`^${name} must be `)]]);
    expect(problems.join('\n')).not.toContain('password@a');
  }
  for (const value of right) expect([value, readConfig({ [name]: value }, []).ok]).toEqual([value, true]);
});

test('limits of accounts are taken from a JSON object, and everything wrong in it is told by its name', () => {
  expect(readConfig({ HEADWATER_LIMITS: '{"runCpuMs":500,"memoryMb":64}' }, [])).toMatchObject({
    config: { limitDefaults: { runCpuMs: 500, memoryMb: 64 } },
  });
  expect(problemsOf({ HEADWATER_LIMITS: '{"runCpuMs":1,"memroyMb":64,"memoryMb":"64"}' })).toEqual([
    expect.stringMatching(/^HEADWATER_LIMITS\.runCpuMs must be a whole number from 100 to/),
    expect.stringMatching(/^HEADWATER_LIMITS\.memroyMb is not the name/),
    expect.stringMatching(/^HEADWATER_LIMITS\.memoryMb must be a whole number/),
  ]);
});

test.each(['[]', '5', 'null', '{'])('HEADWATER_LIMITS=%s is refused', (text) => {
  expect(problemsOf({ HEADWATER_LIMITS: text })).toEqual([expect.stringContaining('must be a JSON object')]);
});

test.each(['app.example.com', 'https://a.example/path', 'javascript:x', '*', 'https://u@a.example'])(
  'HEADWATER_OAUTH_REDIRECT_ORIGINS=%s is refused',
  (text) => {
    const problems = problemsOf({ HEADWATER_OAUTH_REDIRECT_ORIGINS: text });
    expect(problems).toEqual([expect.stringContaining('must be a comma-separated list of origins')]);
  },
);

test.each(['0', '-1', '1.5', 'x', '65536'])('PORT=%s is refused', (port) => {
  expect(problemsOf({ PORT: port })).toHaveLength(1);
});

test('layers that are required are known ones, each once, or all', () => {
  const layersOf = (text: string) => {
    const outcome = readConfig({ HEADWATER_SANDBOX_REQUIRE: text }, []);
    return outcome.ok ? outcome.config.sandbox.requiredLayers : outcome.problems;
  };
  expect(layersOf('syscalls, network,network')).toEqual(['network', 'syscalls']);
  expect(layersOf('network,all')).toEqual([...SANDBOX_LAYERS]);
  expect(layersOf('network,nets')).toEqual([
    expect.stringMatching(/^HEADWATER_SANDBOX_REQUIRE has "nets", which is neither all nor one of network, user, /),
  ]);
  expect(layersOf('')).toBeUndefined();
  expect(layersOf(',')).toEqual(['HEADWATER_SANDBOX_REQUIRE must name a layer']);
});

test('DNS servers are addresses, and each that is none is named', () => {
  const form = 'an address such as 1.1.1.1, 127.0.0.1:5353 or [::1]:5353';
  expect(problemsOf({ HEADWATER_DNS_SERVERS: '1.1.1.1,dns.test,127.0.0.1:0,::1:53:x' })).toEqual([
    `HEADWATER_DNS_SERVERS has "dns.test", which is not ${form}`,
    `HEADWATER_DNS_SERVERS has "127.0.0.1:0", which is not ${form}`,
    `HEADWATER_DNS_SERVERS has "::1:53:x", which is not ${form}`,
  ]);
  expect(problemsOf({ HEADWATER_DNS_SERVERS: ', ' })).toEqual([`HEADWATER_DNS_SERVERS must hold ${form}`]);
});

test('the role comes from the argument before the environment', () => {
  expect(readConfig({ HEADWATER_ROLE: 'api' }, ['engine'])).toMatchObject({ config: { role: 'engine' } });
  expect(readConfig({ HEADWATER_ROLE: 'api' }, [])).toMatchObject({ config: { role: 'api' } });
  expect(problemsOf({}, ['api', 'engine'])).toHaveLength(1);
});

test('the welcome shows a generated key once and a given one never', () => {
  const shown = (apiKey?: string) => {
    let text = '';
    const write = (part: string) => void (text += part);
    printWelcome({ publicUrl: 'http://h', write, ...(apiKey === undefined ? {} : { apiKey }) });
    return text;
  };
  expect(shown('hw_generated')).toContain('API key  hw_generated');
  expect(shown('hw_generated')).toContain('\nnpx hw login --url http://h\n');
  expect(shown()).toContain('$HEADWATER_API_KEY');
});

test('the registry of packages is an http or https URL, and only network settings of the environment are passed on', () => {
  const env = {
    HEADWATER_NPM_REGISTRY: 'https://packages.example.com/npm/',
    HTTPS_PROXY: 'http://proxy:8080',
    SECRET: 'x',
  };
  expect(readConfig(env, [])).toMatchObject({
    config: {
      npmRegistry: 'https://packages.example.com/npm/',
      networkEnvironment: { HTTPS_PROXY: 'http://proxy:8080' },
    },
  });
  for (const wrong of ['packages.example.com', 'file:///packages', 'https://user:secret@example.com/'])
    expect(readConfig({ HEADWATER_NPM_REGISTRY: wrong }, [])).toMatchObject({ ok: false });
});
