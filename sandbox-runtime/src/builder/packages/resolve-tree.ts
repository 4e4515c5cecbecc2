import semver from 'semver';
import { parseVersionRequest, type PackageSpecifier } from '../specifier.ts';
import { PackageError } from './package-error.ts';
import type { Manifest, Packument } from './manifest.ts';
import { pickVersion } from './pick-version.ts';

/** A package in the folder of a build. `dir` is relative to it: `node_modules/a/node_modules/b`. */
export interface PlacedPackage {
  dir: string;
  name: string;
  version: string;
  tarball: string;
  integrity: string;
  /** The author's import string that led to it first. */
  root: string;
}

/**
 * Result for an import string of the author. `from`: the folder from which the package's name is
 * looked up.
 */
type ResolvedRoot = { ok: true; from: string; name: string; version: string } | { ok: false; reason: string };

export interface PackageTree {
  packages: PlacedPackage[];
  /** By import string. */
  roots: Record<string, ResolvedRoot>;
}

interface Node {
  dir: string;
  /** Author's import at the top, then the packages that led here. */
  trail: string[];
  parent: Node | undefined;
  placed?: { manifest: Manifest; registryName: string; root: string };
  children: Map<string, Node>;
  /**
   * Names that were looked up through this folder and found above it: placing one here would hide
   * that.
   */
  passed: Set<string>;
}

interface Edge {
  from: Node;
  name: string;
  wanted: string;
  kind: 'required' | 'optional' | 'peer';
  root: string;
}

const MAX_DEPTH = 40;
const MAX_NAMED_CHARS = 300;
/** Each may be a question to the registry. Large trees have some four for each package. */
const MAX_EDGES_PER_PACKAGE = 20;

export interface TreeSource {
  packument(name: string): Promise<Packument>;
}

/**
 * Places the packages of a component as npm does: each as far up as possible, so that packages are
 * shared. A package's error becomes the result of the import that led to it. Throws PackageError
 * for more than `maxPackages`.
 */
export async function resolveTree(
  specifiers: readonly PackageSpecifier[],
  source: TreeSource,
  maxPackages: number,
): Promise<PackageTree> {
  const builder = new TreeBuilder(source, maxPackages);
  // The order is fixed, so that the same imports make the same tree.
  const ordered = specifiers.toSorted((a, b) => (a.text < b.text ? -1 : 1));
  await Promise.all(ordered.map(({ name }) => source.packument(name).catch(() => undefined)));
  for (const specifier of ordered) await builder.addRoot(specifier);
  await builder.settle();
  return builder.tree();
}

class TreeBuilder {
  readonly #source: TreeSource;
  readonly #maxPackages: number;
  readonly #top: Node = { dir: '', trail: [], parent: undefined, children: new Map(), passed: new Set() };
  readonly #all: Node[] = [];
  readonly #roots = new Map<string, ResolvedRoot>();
  #edges: Edge[] = [];
  /** Resolved last: a peer takes a package that is already placed. */
  #peers: Edge[] = [];
  #asides = 0;
  #edgeCount = 0;

  constructor(source: TreeSource, maxPackages: number) {
    this.#source = source;
    this.#maxPackages = maxPackages;
  }

  async addRoot({ text, name, range }: PackageSpecifier): Promise<void> {
    try {
      const manifest = pickVersion(await this.#source.packument(name), range);
      let holder = this.#top;
      const there = holder.children.get(name);
      if (there === undefined) this.#place(holder, name, name, manifest, [], text);
      else if (there.placed?.manifest.version !== manifest.version) {
        // Two versions of one package in one component: the second gets a folder of its own beside
        // the others.
        this.#asides += 1;
        holder = this.#aside(`aside-${this.#asides}/`);
        this.#place(holder, name, name, manifest, [], text);
      }
      this.#roots.set(text, { ok: true, from: holder.dir, name, version: manifest.version });
    } catch (error) {
      this.#fail(text, error);
    }
  }

  async settle(): Promise<void> {
    while (this.#edges.length > 0 || this.#peers.length > 0) {
      const edges = this.#edges.length > 0 ? this.#edges : this.#peers;
      if (edges === this.#edges) this.#edges = [];
      else this.#peers = [];
      // Asked for side by side, placed one after the other in a fixed order.
      await Promise.all(edges.map((edge) => this.#prefetch(edge)));
      for (const edge of edges) await this.#follow(edge);
    }
  }

  tree(): PackageTree {
    const packages = this.#all.flatMap(({ dir, placed }) => {
      if (placed === undefined) return [];
      const { version, tarball, integrity } = placed.manifest;
      return [{ dir: dir.slice(0, -1), name: placed.registryName, version, tarball, integrity, root: placed.root }];
    });
    return { packages, roots: Object.fromEntries(this.#roots) };
  }

  async #prefetch({ from, name, wanted }: Edge): Promise<void> {
    const request = parseVersionRequest(name, wanted);
    if (request === undefined || this.#lookUp(from, name)?.found !== undefined) return;
    // Asked again when its turn comes, and then the failure counts.
    await this.#source.packument(request.name).catch(() => undefined);
  }

  async #follow(edge: Edge): Promise<void> {
    try {
      await this.#connect(edge);
    } catch (error) {
      if (edge.kind === 'optional' && error instanceof PackageError) return;
      const wanted = `${edge.name}@${edge.wanted}`;
      // As long as its author likes, and the reason comes after it.
      const path = [...edge.from.trail, wanted.slice(0, MAX_NAMED_CHARS)].join(' → ');
      this.#fail(edge.root, error, `${path}: `);
    }
  }

  async #connect(edge: Edge): Promise<void> {
    const { from, name, wanted, kind, root } = edge;
    const request = parseVersionRequest(name, wanted);
    if (request === undefined)
      throw new PackageError('only versions in the registry can be used, no files, addresses or repositories');
    const { found, below } = this.#lookUp(from, name);
    if (found !== undefined && (kind === 'peer' || satisfies(found, request.name, request.range))) {
      this.#markPassed(from, found, name);
      return;
    }
    const manifest = pickVersion(await this.#source.packument(request.name), request.range);
    if (kind === 'optional' && manifest.isNative) return;
    if (found !== undefined && isSame(found, request.name, manifest.version)) {
      this.#markPassed(from, found, name);
      return;
    }
    const holder = below.find((node) => !node.passed.has(name)) ?? from;
    const node = this.#place(holder, name, request.name, manifest, from.trail, root);
    this.#markPassed(from, node, name);
  }

  /**
   * The package that `name` means in this folder, and the folders below it in which another could
   * be put, the highest first.
   */
  #lookUp(from: Node, name: string): { found: Node | undefined; below: Node[] } {
    const below: Node[] = [];
    for (let node: Node | undefined = from; node !== undefined; node = node.parent) {
      const found = node.children.get(name);
      if (found !== undefined) return { found, below: below.toReversed() };
      below.push(node);
    }
    return { found: undefined, below: below.toReversed() };
  }

  #markPassed(from: Node, found: Node, name: string): void {
    for (let node: Node | undefined = from; node !== undefined && node !== found.parent; node = node.parent)
      node.passed.add(name);
  }

  #place(
    holder: Node,
    name: string,
    registryName: string,
    manifest: Manifest,
    trail: readonly string[],
    root: string,
  ): Node {
    if (this.#all.length >= this.#maxPackages)
      throw new PackageError(`it needs more than ${this.#maxPackages} packages`);
    if (trail.length >= MAX_DEPTH) throw new PackageError(`its dependencies are nested deeper than ${MAX_DEPTH}`);
    const node: Node = {
      dir: `${holder.dir}node_modules/${name}/`,
      trail: [...trail, `${name}@${manifest.version}`],
      parent: holder,
      placed: { manifest, registryName, root },
      children: new Map(),
      passed: new Set(),
    };
    holder.children.set(name, node);
    this.#all.push(node);
    this.#addEdges(node, manifest, root);
    return node;
  }

  #addEdges(node: Node, manifest: Manifest, root: string): void {
    const edgesOf = (from: Node, wanted: Record<string, string>, kind: Edge['kind']): Edge[] =>
      Object.entries(wanted)
        .filter(([name]) => !manifest.bundled.includes(name))
        .map(([name, range]) => ({ from, name, wanted: range, kind, root }));
    const required = edgesOf(node, manifest.dependencies, 'required');
    const optional = edgesOf(node, manifest.optionalDependencies, 'optional');
    const peers = edgesOf(node.parent ?? node, manifest.peerDependencies, 'peer');
    const maxEdges = this.#maxPackages * MAX_EDGES_PER_PACKAGE;
    this.#edgeCount += required.length + optional.length + peers.length;
    if (this.#edgeCount > maxEdges) throw new PackageError(`it has more than ${maxEdges} dependencies`);
    this.#edges = this.#edges.concat(required, optional);
    this.#peers = this.#peers.concat(peers);
  }

  #aside(dir: string): Node {
    return { dir, trail: [], parent: this.#top, children: new Map(), passed: new Set() };
  }

  #fail(root: string, error: unknown, prefix = ''): void {
    if (!(error instanceof PackageError)) throw error;
    if (this.#roots.get(root)?.ok === false) return;
    this.#roots.set(root, { ok: false, reason: prefix + error.message });
  }
}

function satisfies({ placed }: Node, registryName: string, range: string): boolean {
  if (placed === undefined || placed.registryName !== registryName) return false;
  return range === 'latest' ? false : semver.satisfies(placed.manifest.version, range, { loose: true });
}

function isSame({ placed }: Node, registryName: string, version: string): boolean {
  return placed?.registryName === registryName && placed.manifest.version === version;
}
