import type { ApiClient } from '../api/client.ts';
import type { Source } from '../api/resources.ts';
import { type ComponentChoice, saveComponent } from '../commands/which-component.ts';
import { CliError } from '../cli-error.ts';
import type { CommandContext } from '../context.ts';
import { askForProps } from './ask-for-props.ts';
import { readProps, typesOf } from './read-props.ts';

export interface PropsOf {
  choice: ComponentChoice;
  /** An existing source; it keeps its configuration. */
  source?: Source | undefined;
  /** Answers for a source that could not be created then. */
  answers?: Record<string, unknown>;
}

/** Parameters of `POST /sources` and `PUT /sources/{id}`; code is saved by now. */
export interface SourceParameters {
  [parameter: string]: unknown;
  configured_props: Record<string, unknown>;
}

/**
 * Combines --props, --prop and answers at the terminal, for a new or an existing source. Throws
 * with the options to give if a value is missing that the terminal could ask for.
 */
export async function givenProps(context: CommandContext, api: ApiClient, of: PropsOf): Promise<SourceParameters> {
  const { choice, source, answers = {} } = of;
  const { parameters, described } = choice;
  const component = await context.output.progress(`Reading ${described}`, () => saveComponent(api, choice));
  if (component.type !== 'source') throw isNoSource(described, component.type);
  const asked = await askForProps(context, api, {
    component,
    source,
    answers,
    given: (definitions) => readProps(context.input, context.workDir, typesOf(definitions)),
  });
  return {
    ...(parameters['component_key'] === undefined ? { component_id: component.id } : parameters),
    configured_props: asked.props,
    ...(asked.dynamicPropsId === undefined ? {} : { dynamic_props_id: asked.dynamicPropsId }),
  };
}

function isNoSource(described: string, type: 'action' | 'transform'): CliError {
  const [what, hint] =
    type === 'action'
      ? ['an action', `Try it: hw dev ${described}   Publish it as a step of workflows: hw publish ${described}`]
      : ['a transform', `A webhook uses it: hw webhooks update <name> --transform ${described}`];
  return new CliError('failure', `${described} is ${what}, and only sources are deployed`, {
    code: 'INVALID_COMPONENT',
    hint,
  });
}
