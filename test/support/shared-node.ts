/**
 * All files of a worker share it: a start costs more than most of them. A symbol, as files may
 * leave no global behind.
 */
const SHARED = Symbol.for('the node that files of tests share');

interface Node {
  url: string;
}

const kept = globalThis as { [SHARED]?: { node: Promise<Node>; port?: number } };

/**
 * The node of this worker, made by `start` for the first file that asks. All ask for the same kind.
 */
export async function sharedNode<T extends Node>(start: () => Promise<T>): Promise<T> {
  const shared = (kept[SHARED] ??= { node: start() });
  const node = (await shared.node) as T;
  shared.port = Number(new URL(node.url).port);
  return node;
}

/** Undefined where no file of this worker has asked for it. */
export const sharedNodePort = (): number | undefined => kept[SHARED]?.port;
