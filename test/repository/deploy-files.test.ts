import { access, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { type Headwater, sharedHeadwater } from '../support/headwater.ts';

/* Files that operators copy name things of this repository. Each must exist. */

const ROOT = path.resolve(import.meta.dirname, '../..');
const read = (name: string) => readFile(path.join(ROOT, name), 'utf8');
const FILES = [
  'Dockerfile',
  'compose.yaml',
  'headwater.env.example',
  'systemd/headwater.service',
  'proxy/Caddyfile',
  'proxy/nginx.conf',
  'kubernetes/headwater.yaml',
].map((name) => `examples/deploy/${name}`);

let hw: Headwater;
let metrics: string;

beforeAll(async () => {
  hw = await sharedHeadwater();
  // Its answer is a sample of the figures of the API.
  await fetch(`${hw.url}/healthz`);
  metrics = await (await fetch(`${hw.url}/metrics`)).text();
});
afterAll(() => hw?.stop());

/** Variables of the proxy and of Compose, which no node reads. */
const OF_OTHERS = new Set(['HEADWATER_DOMAIN', 'HEADWATER_NODES']);

test.each(FILES)('%s names variables and ports that a node knows', async (name) => {
  const text = await read(name);
  const configuration = await read('docs/configuration.md');
  const variables = [...text.matchAll(/\b(HEADWATER_[A-Z_]+|DATABASE_URL)\b/g)].map(([, variable = '']) => variable);
  const unknown = variables.filter((one) => !OF_OTHERS.has(one) && !configuration.includes(`\`${one}\``));
  expect(unknown).toEqual([]);
  for (const [, port] of text.matchAll(/(?:EXPOSE |containerPort: |PORT=)(\d+)/g)) expect(port).toBe('3000');
});

test('the image copies folders of this repository, and starts the command line', async () => {
  const image = await read('examples/deploy/Dockerfile');
  const copied = [...image.matchAll(/^COPY --from=build \/app\/(\S+)/gm)].map(([, from = '']) => from);
  expect(copied.length).toBeGreaterThan(5);
  for (const from of copied) await access(path.join(ROOT, from));
  for (const [, program = ''] of image.matchAll(/"([\w/]+\.js)"/g)) await access(path.join(ROOT, program));
  const workspaces: unknown = JSON.parse(await read('package.json')).workspaces;
  for (const [, workspace] of image.matchAll(/ -w ([\w-]+)/g)) expect(workspaces).toContain(workspace);
});

test('the unit and the image start the same program', async () => {
  const unit = await read('examples/deploy/systemd/headwater.service');
  const [, program = ''] = /^ExecStart=\S+ (\S+) server start$/m.exec(unit) ?? [];
  const image = await read('examples/deploy/Dockerfile');
  expect(image).toContain(`ENTRYPOINT ["node", "${program}"]`);
  expect(image).toContain('CMD ["server", "start"]');
  await access(path.join(ROOT, program));
  await access(path.join(ROOT, 'node_modules/node/bin/node'));
});

test('Compose reads files that are there, and its nodes wait for Postgres', async () => {
  const folder = path.join(ROOT, 'examples/deploy');
  const { services, volumes, networks } = parse(await read('examples/deploy/compose.yaml'), { merge: true });
  for (const node of ['node-1', 'node-2']) {
    const { build, depends_on: after, env_file: env } = services[node];
    await access(path.join(folder, build.context, build.dockerfile));
    await access(path.join(folder, `${env}.example`));
    expect(after).toHaveProperty('postgres.condition', 'service_healthy');
  }
  const parts = Object.values<{ volumes?: string[]; networks?: string[] }>(services);
  const mounted = parts.flatMap((part) => part.volumes ?? []).map((volume) => volume.split(':')[0] ?? '');
  for (const file of mounted.filter((from) => from.startsWith('./'))) await access(path.join(folder, file));
  expect(Object.keys(volumes)).toEqual(expect.arrayContaining(mounted.filter((from) => !from.startsWith('./'))));
  expect(Object.keys(networks)).toEqual(expect.arrayContaining(parts.flatMap((part) => part.networks ?? [])));
});

test('every path that a proxy or a probe asks for is one of a node', async () => {
  const probes = (await Promise.all(FILES.map(read))).flatMap((text) => [
    ...text.matchAll(/(?:path: |health_uri |127\.0\.0\.1:3000)(\/[a-z]+z)\b/g),
  ]);
  expect(new Set(probes.map(([, probe]) => probe))).toEqual(new Set(['/livez', '/readyz']));
  for (const [, probe] of probes) expect((await fetch(`${hw.url}${probe}`)).status).toBe(200);
});

test('the objects of Kubernetes refer to each other', async () => {
  const objects = parseAllDocuments(await read('examples/deploy/kubernetes/headwater.yaml')).map((one) => one.toJS());
  const [, deployment, service, budget, ingress] = objects;
  expect(objects.map(({ kind }) => kind)).toEqual([
    'ConfigMap',
    'Deployment',
    'Service',
    'PodDisruptionBudget',
    'Ingress',
  ]);
  const { labels } = deployment.spec.template.metadata;
  for (const selector of [
    deployment.spec.selector.matchLabels,
    service.spec.selector,
    budget.spec.selector.matchLabels,
  ])
    expect(labels).toMatchObject(selector);
  const [container] = deployment.spec.template.spec.containers;
  const volumes = deployment.spec.template.spec.volumes.map(({ name }: { name: string }) => name);
  expect(container.volumeMounts.map(({ name }: { name: string }) => name)).toEqual(volumes);
  const { backend } = ingress.spec.rules[0].http.paths[0];
  expect(service.spec.ports.map(({ name }: { name: string }) => name)).toContain(backend.service.port.name);
});

/** Names as they stand in the text of a node, histograms by their parts. */
function unknownMetrics(text: string): string[] {
  const used = text.match(/\b(?:headwater|nodejs|process)_[a-z0-9_]+\b/g) ?? [];
  const isKnown = (name: string) =>
    metrics.includes(`# TYPE ${name} `) ||
    metrics.includes(`# TYPE ${name.replace(/_(?:bucket|count|sum)$/, '')} histogram`);
  return used.filter((name) => !isKnown(name));
}

test('alerts, dashboard and page name metrics that a node has, and the page all of ours', async () => {
  const page = await read('docs/production.md');
  const alerts = await read('examples/deploy/prometheus/alerts.yml');
  const board = await read('examples/deploy/grafana/headwater.json');
  const rows = page.split('\n').filter((line) => line.startsWith('| `headwater_'));
  for (const text of [alerts, board, rows.join('\n')]) expect(unknownMetrics(text)).toEqual([]);
  const own = [...metrics.matchAll(/^# TYPE (headwater_\w+)/gm)].map(([, name = '']) => name);
  expect(new Set(rows.map((row) => row.split('`')[1]))).toEqual(new Set(own));
});

test('the page says the type of each metric, and the labels that its samples have', async () => {
  const page = await read('docs/production.md');
  const rows = page.split('\n').filter((line) => line.startsWith('| `headwater_'));
  for (const row of rows) {
    const [, name = '', type = '', what = ''] = row.split('|').map((cell) => cell.trim().replaceAll('`', ''));
    expect([name, metrics.match(new RegExp(`^# TYPE ${name} (\\w+)$`, 'm'))?.[1]]).toEqual([name, type]);
    const samples = metrics.matchAll(new RegExp(`^${name}(?:_bucket|_sum|_count)?\\{(.*)\\} `, 'gm'));
    const labels = new Set(
      [...samples].flatMap(([, text = '']) => [...text.matchAll(/(\w+)="/g)].map(([, label]) => label)),
    );
    // The bounds of buckets are those of every histogram.
    labels.delete('le');
    expect([name, [...labels].filter((label) => !what.includes(label ?? ''))]).toEqual([name, []]);
  }
});

test('each alert has its place on the page', async () => {
  const page = await read('docs/production.md');
  const { groups } = parse(await read('examples/deploy/prometheus/alerts.yml'));
  const rules: { alert: string; annotations: { runbook: string } }[] = groups.flatMap(
    ({ rules: some }: { rules: unknown[] }) => some,
  );
  expect(rules.length).toBeGreaterThan(5);
  expect(page.match(/^### (\w+)$/gm)).toEqual(rules.map(({ alert }) => `### ${alert}`));
  for (const { alert, annotations } of rules)
    expect(annotations.runbook).toBe(`docs/production.md#${alert.toLowerCase()}`);
});
