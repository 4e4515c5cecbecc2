import { spawnSync } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

interface Manifest {
  name: string;
  version: string;
  description: string;
  license: string;
  dependencies?: Record<string, string>;
}

/**
 * The packages that others install, as folders for `npm pack`: plain JavaScript, since Node strips
 * no types below node_modules. Answers the folders.
 */
export async function buildPackages(out: string): Promise<{ client: string; cli: string }> {
  const [client, cli] = [path.join(out, 'client'), path.join(out, 'cli')];
  await rm(out, { recursive: true, force: true });
  await Promise.all([buildClient(client), buildCli(cli)]);
  return { client, cli };
}

async function buildClient(folder: string): Promise<void> {
  const { name, version, description, license } = await manifestOf('client');
  await build({
    entryPoints: [path.join(ROOT, 'client/src/index.ts')],
    outfile: path.join(folder, 'index.js'),
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
  });
  const options = ['--declaration', '--emitDeclarationOnly', '--noEmit', 'false', '--outDir', folder];
  const emit = ['-p', path.join(ROOT, 'client/tsconfig.json'), ...options];
  const { status, stdout } = spawnSync(
    process.execPath,
    [path.join(ROOT, 'node_modules/typescript/bin/tsc'), ...emit],
    {
      encoding: 'utf8',
    },
  );
  if (status !== 0) throw new Error(`The types of the client cannot be written: ${stdout}`);
  for (const declared of await readdir(folder)) {
    if (!declared.endsWith('.d.ts')) continue;
    const file = path.join(folder, declared);
    await writeFile(file, (await readFile(file, 'utf8')).replaceAll(/'(\.\/[\w-]+)(?:\.d)?\.ts'/g, "'$1.js'"));
  }
  await cp(path.join(ROOT, 'client/src/schema.d.ts'), path.join(folder, 'schema.d.ts'));
  await cp(path.join(ROOT, 'client/README.md'), path.join(folder, 'README.md'));
  await writeManifest(folder, {
    name,
    version,
    description,
    license,
    type: 'module',
    sideEffects: false,
    exports: { '.': { types: './index.d.ts', default: './index.js' } },
    engines: { node: '>=20' },
  });
}

/**
 * The built files lie as deep as their sources do, so that paths from one to another stay true. All
 * packages are in them but esbuild, which is a program.
 */
async function buildCli(folder: string): Promise<void> {
  const { name, version, description, license, dependencies = {} } = await manifestOf('cli');
  const code = path.join(folder, 'cli/src/hw');
  await build({
    entryPoints: [path.join(ROOT, 'cli/src/main.ts')],
    outdir: code,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    external: ['esbuild'],
    // For Node it has the other format, of which import() knows no names once it is bundled.
    alias: { yaml: path.join(ROOT, 'node_modules/yaml/browser/index.js') },
    // Packages in the other format load each other with it.
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
  });
  await writeManifest(path.dirname(code), { version, type: 'module' });
  await cp(path.join(ROOT, 'cli/bin'), path.join(folder, 'bin'), { recursive: true });
  const bin = await readFile(path.join(ROOT, 'cli/bin/hw.js'), 'utf8');
  await writeFile(path.join(folder, 'bin/hw.js'), bin.replace('../src/main.ts', '../cli/src/hw/main.js'), {
    mode: 0o755,
  });
  await cp(path.join(ROOT, 'types/src'), path.join(folder, 'types/src'), { recursive: true });
  await cp(path.join(ROOT, 'cli/README.md'), path.join(folder, 'README.md'));
  await writeManifest(folder, {
    name,
    version,
    description,
    license,
    type: 'module',
    bin: { hw: 'bin/hw.js' },
    dependencies: { esbuild: dependencies['esbuild'] },
    engines: { node: '>=24' },
  });
}

async function manifestOf(workspace: string): Promise<Manifest> {
  return JSON.parse(await readFile(path.join(ROOT, workspace, 'package.json'), 'utf8')) as Manifest;
}

async function writeManifest(folder: string, manifest: object): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}
