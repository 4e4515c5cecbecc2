import { createHash } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

/** One entry of a tarball, written unchanged, even if it harms an unpacker. */
export interface TarEntry {
  path: string;
  content?: string | Buffer;
  /** `0` a file, `2` a symbolic link, `1` a hard link. */
  type?: string;
  linkTo?: string;
}

export interface PackageSpec {
  name: string;
  version: string;
  /** Added to package.json and to the registry's data of the version. */
  manifest?: Record<string, unknown>;
  /** Files of the package beside package.json; by default an index.js. */
  files?: Record<string, string | Buffer>;
  /** Instead of `files`: the tarball's entries, with their first folder. */
  entries?: TarEntry[];
  /** Instead of both: the bytes of the tarball. */
  tarball?: Buffer;
  /** Changes what the registry says of the tarball. */
  dist?: Record<string, unknown>;
}

/** A package registry on loopback with the packages of a test. */
export interface PackageRegistry {
  url: string;
  add(...packages: PackageSpec[]): void;
  /** Paths that were asked for, in order. */
  requests: string[];
  /** Set: answers wait for it. */
  hold: Promise<void> | undefined;
  /** Set: called first for each path; true if it answers itself. */
  instead: ((path: string, response: ServerResponse) => boolean) | undefined;
  stop(): Promise<void>;
}

interface Version {
  spec: PackageSpec;
  tarball: Buffer;
}

export async function startPackageRegistry(): Promise<PackageRegistry> {
  const packages = new Map<string, Map<string, Version>>();
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '');
    registry.requests.push(path);
    void (registry.hold ?? Promise.resolve()).then(() => answer(path, response));
  });
  function answer(path: string, response: ServerResponse): void {
    if (registry.instead?.(path, response) === true) return;
    const [name = '', file] = path.slice(1).split('/-/');
    const versions = packages.get(name);
    if (file === undefined) {
      if (versions === undefined) response.writeHead(404).end('{}');
      else response.end(JSON.stringify(describe(registry.url, name, versions)));
      return;
    }
    const version = [...(versions ?? [])].find(([number]) => file.endsWith(`-${number}.tgz`))?.[1];
    if (version === undefined) response.writeHead(404).end();
    else response.end(version.tarball);
  }
  const registry: PackageRegistry = {
    url: '',
    requests: [],
    hold: undefined,
    instead: undefined,
    add(...specs) {
      for (const spec of specs) {
        const versions = packages.get(spec.name) ?? new Map<string, Version>();
        packages.set(spec.name, versions.set(spec.version, { spec, tarball: spec.tarball ?? packageTarball(spec) }));
      }
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  registry.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return registry;
}

function describe(url: string, name: string, versions: Map<string, Version>): unknown {
  const entries = [...versions].map(([version, { spec, tarball }]) => {
    const dist = {
      tarball: `${url}${name}/-/${name.split('/').at(-1)}-${version}.tgz`,
      integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}`,
      ...spec.dist,
    };
    return [version, { name, version, ...spec.manifest, dist }];
  });
  return { name, 'dist-tags': { latest: [...versions.keys()].at(-1) }, versions: Object.fromEntries(entries) };
}

function packageTarball({ name, version, manifest, files, entries }: PackageSpec): Buffer {
  const given = files ?? { 'index.js': `module.exports = ${JSON.stringify(`${name}@${version}`)};` };
  const packageJson = JSON.stringify({ name, version, ...manifest });
  return gzipSync(
    tar(
      entries ?? [
        { path: 'package/package.json', content: packageJson },
        ...Object.entries(given).map(([path, content]) => ({ path: `package/${path}`, content })),
      ],
    ),
  );
}

/** A POSIX tar archive. */
export function tar(entries: readonly TarEntry[]): Buffer {
  const blocks = entries.flatMap(({ path, content = '', type = '0', linkTo = '' }) => {
    const bytes = Buffer.from(content);
    const header = Buffer.alloc(512);
    header.write(path, 0, 100);
    header.write('0000644\0', 100);
    header.write(`${bytes.length.toString(8).padStart(11, '0')}\0`, 124);
    header.write(type, 156);
    header.write(linkTo, 157, 100);
    header.write('ustar\u000000', 257, 'latin1');
    return [header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}
