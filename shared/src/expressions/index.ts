/** Runs inside isolates too, so nothing here may depend on Node. */
export { parsePath, type ExpressionPath, type PathPart } from './parse-path.ts';
export { hasExpression, tokenize, type TemplatePart, type TokenizeOutcome } from './tokenize.ts';
