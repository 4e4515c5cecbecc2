export { createStacks } from './stacks.ts';
