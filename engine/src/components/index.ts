export { readBundleHashes, readComponentBundle } from './bundles.sql.ts';
export { chooseComponent, namesComponent } from './choose-component.ts';
export { deleteStepComponents } from './components.sql.ts';
export { type ComponentFinder, createComponents } from './components.ts';
export { readDefinitions, readPropOptions } from './read-prop-result.ts';
export type { Saver } from './save-component.ts';
export {
  createUnsavedComponents,
  type UnsavedComponents,
  type UnsavedComponentsOptions,
} from './unsaved-components.ts';
export { withComponents } from './with-components.ts';
