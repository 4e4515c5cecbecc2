export { requireDynamicProps } from './choose-dynamic-props.ts';
export {
  type DecideContext,
  type DecidedProps,
  decideProps,
  type PropsBefore,
  type PropsOwner,
} from './decide-props.ts';
export { deleteExpiredDynamicProps, insertDynamicProps } from './dynamic-props.sql.ts';
export { type HttpProp, httpPropsOf, type Interfaces, interfacesOf, type TimerProp } from './interfaces.ts';
export { mergeDefinitions } from './merge-definitions.ts';
export { isSealed, openProps, type PropOpener, publicProps, secretsIn, type SourceProp } from './run-props.ts';
export { configureProps, openStoredProps, type PropContext, type PropSealer } from './seal-props.ts';
export { invalidProps, requireKnownProps } from './validate-props.ts';
