import { resolveExports, resolveImports } from './package-exports.ts';

export type ImportKind = 'import' | 'require';

/**
 * A package as it was unpacked. `dir` is its place in the tree: `node_modules/a/node_modules/b`.
 */
interface UnpackedPackage {
  dir: string;
  files: ReadonlyMap<string, Buffer>;
  manifest: Record<string, unknown>;
}

export interface FoundFile {
  /** The place of its package and its path in it; unique. */
  id: string;
  contents: Buffer;
  /** Field `type` of the package, for its `.js` files; undefined without the field. */
  type: 'module' | 'commonjs' | undefined;
  /** False where the package promises that importing it does nothing by itself. */
  sideEffects: boolean;
}

const CONDITIONS: Record<ImportKind, ReadonlySet<string>> = {
  import: new Set(['node', 'import', 'default']),
  require: new Set(['node', 'require', 'default']),
};
const CODE = /\.(?:[cm]?js|json|node)$/;
/** Extensions that Node adds to an import without one. */
const IMPLIED = /\.(?:js|json|node)$/;
const IMPLIED_INDEX = /\/index\.(?:js|json|node)$/;
const EXTENSIONS = ['.js', '.json', '.node', '.mjs', '.cjs'];

/**
 * The packages of a build in memory, and their resolution. It follows Node, so that a package
 * behaves as there. No name or path leads outside these packages.
 *
 * Rules: https://nodejs.org/api/modules.html#all-together and
 * https://nodejs.org/api/esm.html#resolution-algorithm-specification. In addition, `import` finds a
 * file without its extension, and `module` counts if `main` is absent.
 */
export class UnpackedPackages {
  readonly #packages = new Map<string, UnpackedPackage>();

  /** Packages that came inside of it, in a node_modules of its own, are taken out of it. */
  add(dir: string, files: ReadonlyMap<string, Buffer>): void {
    const byDir = new Map<string, Map<string, Buffer>>();
    for (const [path, bytes] of files) {
      const [, inner, rest] = /^((?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/@]+)\/(.+)$/.exec(path) ?? [];
      const own = inner === undefined ? dir : `${dir}/${inner}`;
      const group = byDir.get(own) ?? new Map<string, Buffer>();
      byDir.set(own, group.set(rest ?? path, bytes));
    }
    for (const [own, group] of byDir) {
      const manifest = readManifest(group.get('package.json'));
      this.#packages.set(own, { dir: own, files: group, manifest });
    }
  }

  /** The file that `path` means in the file `importer`, an id. */
  resolveFrom(importer: string, path: string, kind: ImportKind): FoundFile | undefined {
    const own = this.#packageOf(importer);
    if (own === undefined) return undefined;
    if (/^\.\.?(\/|$)/.test(path)) return this.#fileAt(join(importer.slice(0, importer.lastIndexOf('/')), path));
    if (!path.startsWith('#')) return this.resolveName(own.dir, path, kind);
    const target = resolveImports(own.manifest['imports'], path, CONDITIONS[kind]);
    if (target === undefined) return undefined;
    return target.startsWith('./') ? this.#exactly(own, target) : this.resolveName(own.dir, target, kind);
  }

  /** The file that the name of a package, or a path in one, means in the folder `from`. */
  resolveName(from: string, text: string, kind: ImportKind): FoundFile | undefined {
    const [, name, rest = ''] = /^((?:@[^/]+\/)?[^/]+)(\/.*)?$/.exec(text) ?? [];
    if (name === undefined) return undefined;
    for (let dir: string | undefined = from; dir !== undefined; dir = parentOf(dir)) {
      const found = this.#packages.get(join(dir, `node_modules/${name}`));
      if (found !== undefined) return this.#entryOf(found, rest.replace(/\/+$/, ''), kind);
    }
    return undefined;
  }

  /**
   * The names that begin with `prefix`, a relative path, and mean a file of its own package in the
   * file `importer`. None at all where there are more than `max`.
   */
  namesFrom(importer: string, prefix: string, max: number): string[] {
    const own = this.#packageOf(importer);
    if (own === undefined || !/^\.\.?\//.test(prefix)) return [];
    const written = prefix.slice(0, prefix.lastIndexOf('/') + 1);
    const folder = `${join(importer.slice(0, importer.lastIndexOf('/')), written)}/`;
    const names = new Set<string>();
    for (const path of own.files.keys()) {
      const id = `${own.dir}/${path}`;
      if (!id.startsWith(folder) || !CODE.test(id)) continue;
      const name = written + id.slice(folder.length);
      for (const each of [name, name.replace(IMPLIED, ''), name.replace(IMPLIED_INDEX, '')])
        if (each.startsWith(prefix)) names.add(each);
      if (names.size > max) return [];
    }
    return [...names];
  }

  #entryOf(pack: UnpackedPackage, rest: string, kind: ImportKind): FoundFile | undefined {
    const { exports } = pack.manifest;
    if (exports !== undefined && exports !== null) {
      const target = resolveExports(exports, `.${rest}`, CONDITIONS[kind]);
      return target === undefined ? undefined : this.#exactly(pack, target);
    }
    return rest === '' ? this.#folder(pack, '') : this.#fileOrFolder(pack, rest.slice(1));
  }

  #exactly(pack: UnpackedPackage, target: string): FoundFile | undefined {
    return this.#file(pack, join('', target));
  }

  #fileAt(id: string): FoundFile | undefined {
    const pack = this.#packageOf(id);
    return pack === undefined ? undefined : this.#fileOrFolder(pack, id.slice(pack.dir.length + 1));
  }

  #fileOrFolder(pack: UnpackedPackage, path: string): FoundFile | undefined {
    return this.#withExtension(pack, path) ?? this.#folder(pack, path);
  }

  #withExtension(pack: UnpackedPackage, path: string): FoundFile | undefined {
    for (const end of ['', ...EXTENSIONS]) {
      const found = this.#file(pack, path + end);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #folder(pack: UnpackedPackage, path: string): FoundFile | undefined {
    const manifest = path === '' ? pack.manifest : readManifest(pack.files.get(`${path}/package.json`));
    for (const field of ['main', 'module']) {
      const target = manifest[field];
      if (typeof target !== 'string') continue;
      const main = join(path, target);
      const found = this.#withExtension(pack, main) ?? this.#withExtension(pack, join(main, 'index'));
      if (found !== undefined) return found;
    }
    return this.#withExtension(pack, join(path, 'index'));
  }

  #file(pack: UnpackedPackage, path: string): FoundFile | undefined {
    const contents = pack.files.get(path);
    if (contents === undefined) return undefined;
    const type = typeOf(pack, path);
    return { id: `${pack.dir}/${path}`, contents, type, sideEffects: pack.manifest['sideEffects'] !== false };
  }

  #packageOf(id: string): UnpackedPackage | undefined {
    for (let end = id.length; end > 0; end = id.lastIndexOf('/', end - 1)) {
      const found = this.#packages.get(id.slice(0, end));
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

/** Reads the nearest package.json: a folder within a package can have its own. */
function typeOf({ files, manifest }: UnpackedPackage, path: string): FoundFile['type'] {
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    const inner = files.get(`${path.slice(0, end)}/package.json`);
    if (inner !== undefined) return typeField(readManifest(inner));
  }
  return typeField(manifest);
}

function typeField({ type }: Record<string, unknown>): FoundFile['type'] {
  return type === 'module' || type === 'commonjs' ? type : undefined;
}

function readManifest(bytes: Buffer | undefined): Record<string, unknown> {
  try {
    const raw: unknown = JSON.parse(bytes?.toString('utf8').replace(/^\uFEFF/, '') ?? '{}');
    return typeof raw === 'object' && raw !== null ? (raw as Record<string, unknown>) : {};
  } catch {
    // A package is then found by its file names alone.
    return {};
  }
}

/** `a/node_modules/b` → `a`, `a` → ``, `` → undefined. */
function parentOf(dir: string): string | undefined {
  if (dir === '') return undefined;
  const at = dir.lastIndexOf('/node_modules/');
  return at < 0 ? '' : dir.slice(0, at);
}

/** Joins and normalises. What climbs out of the top ends up at the top, where there is no file. */
function join(dir: string, path: string): string {
  const parts: string[] = [];
  for (const part of `${dir}/${path}`.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts.join('/');
}
