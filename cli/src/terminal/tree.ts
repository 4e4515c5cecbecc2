import type { Style } from './style.ts';

/** A line and what hangs on it. */
export interface TreeNode {
  text: string;
  children: readonly TreeNode[];
}

/** Each root begins a line of its own; what hangs on it is drawn below it. */
export function renderTree(roots: readonly TreeNode[], style: Style): string {
  return roots.flatMap((root) => [root.text, ...linesBelow(root, style)]).join('\n');
}

function linesBelow({ children }: TreeNode, style: Style): string[] {
  return children.flatMap((child, i) => {
    const isLast = i === children.length - 1;
    const below = linesBelow(child, style).map((text) => `${style.dim(isLast ? '   ' : '│  ')}${text}`);
    return [`${style.dim(isLast ? '└─ ' : '├─ ')}${child.text}`, ...below];
  });
}
