export { createTransformsOfWebhooks } from './preview-transform.ts';
export { createTransforms } from './run-transform.ts';
