/** What needs nothing of Node: it runs inside of isolates, too. */
export { parsePath, type ExpressionPath, type PathPart } from './parse-path.ts';
export { hasExpression, tokenize, type TemplatePart, type TokenizeOutcome } from './tokenize.ts';
