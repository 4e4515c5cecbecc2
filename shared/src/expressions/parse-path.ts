/**
 * `isOptional`: it stands behind `?.`, and where there is nothing to read it from, the whole path
 * is undefined.
 */
export interface PathPart {
  key: string;
  isOptional: boolean;
  /** As it was written: `.body`, `[0]`, `["x y"]`. */
  text: string;
}

export interface ExpressionPath {
  root: string;
  parts: PathPart[];
}

const ROOT = /^\s*([\p{ID_Start}$_][\p{ID_Continue}$]*)\s*/u;
const PART =
  /(\?\.|\.)\s*(?<name>[\p{ID_Start}$_][\p{ID_Continue}$]*)\s*|(\?\.)?\s*\[\s*(?:(?<index>0|[1-9]\d{0,15})|"(?<double>[^"\\\n\r]*)"|'(?<single>[^'\\\n\r]*)')\s*\]\s*/uy;

/**
 * The path, if the expression is only a path: `steps.foo.$return_value[0]?.["user id"]`. Undefined
 * for any other expression, and for a path that needs more of the language, such as an escape in a
 * string.
 */
export function parsePath(expression: string): ExpressionPath | undefined {
  const root = ROOT.exec(expression);
  if (root === null) return undefined;
  const parts: PathPart[] = [];
  let at = root[0].length;
  while (at < expression.length) {
    PART.lastIndex = at;
    const part = PART.exec(expression);
    if (part === null) return undefined;
    const { name, index, double, single } = part.groups as Record<string, string | undefined>;
    const isOptional = (part[1] ?? part[3]) === '?.';
    const text = name === undefined ? `[${index ?? JSON.stringify(double ?? single)}]` : `.${name}`;
    parts.push({ key: name ?? index ?? double ?? single ?? '', isOptional, text });
    at = PART.lastIndex;
  }
  return { root: root[1] as string, parts };
}
