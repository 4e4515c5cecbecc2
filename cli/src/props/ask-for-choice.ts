import type { ApiClient } from '../api/client.ts';
import type { ComponentProp } from '../api/resources.ts';
import { CliError } from '../cli-error.ts';
import type { CommandContext } from '../context.ts';
import type { Choice } from '../terminal/ask.ts';
import { askForText, type Question, titleOf } from './question.ts';

interface Option {
  label: string;
  value: unknown;
}

interface Page {
  options: Option[];
  context?: unknown;
}

const MORE = Symbol('more');
const SEARCH = Symbol('search');
const OTHER = Symbol('other');

/** Choices that are shown after the options. */
const ACTIONS = new Map<unknown, string>([
  [MORE, 'more …'],
  [SEARCH, 'search for something else …'],
  [OTHER, 'type another value …'],
]);

/** Asks for one option of a prop, or several for a list. The user may also type another value. */
export async function askForChoice(context: CommandContext, api: ApiClient, question: Question): Promise<unknown> {
  const { prop } = question;
  const isFixed = Array.isArray(prop.options);
  for (;;) {
    const pages = isFixed
      ? onePage((prop.options as unknown[]).map(optionOf))
      : readPages(context, api, question, await askForQuery(context, prop));
    const picked = await pick(context, prop, pages);
    if (picked.kind === 'options') return prop.type.endsWith('[]') ? picked.values : picked.values[0];
    if (picked.kind === 'other') return askForText(context, prop);
  }
}

async function askForQuery({ ask }: CommandContext, prop: ComponentProp): Promise<string | undefined> {
  if (prop['useQuery'] !== true) return undefined;
  return ask.text(`Search ${prop.label ?? prop.name}`, { placeholder: 'nothing: all of them', fallback: '' });
}

type Picked = { kind: 'options'; values: unknown[] } | { kind: 'other' } | { kind: 'search' };

/** Shows page after page, as far as the user wants. */
async function pick({ ask, output }: CommandContext, prop: ComponentProp, pages: Pages): Promise<Picked> {
  const isList = prop.type.endsWith('[]');
  const shown: Option[] = [];
  let chosen: unknown[] = [];
  for (;;) {
    shown.push(...(await pages.next()));
    const isSearch = prop['useQuery'] === true;
    if (shown.length === 0 && !isSearch) return { kind: 'other' };
    if (shown.length === 0) output.note('Nothing was found');
    const actions = [...(pages.hasMore() ? [MORE] : []), ...(isSearch ? [SEARCH] : []), OTHER];
    const choices: Choice<unknown>[] = [
      ...shown.map((option) => ({ label: option.label, value: option })),
      ...actions.map((value) => ({ label: ACTIONS.get(value) ?? '', value })),
    ];
    const picked = isList
      ? await ask.chooseSeveral(titleOf(prop), choices, chosen)
      : [await ask.choose(titleOf(prop), choices)];
    if (picked.includes(OTHER)) return { kind: 'other' };
    if (picked.includes(SEARCH)) return { kind: 'search' };
    chosen = picked.filter((value) => value !== MORE);
    if (!picked.includes(MORE)) return { kind: 'options', values: chosen.map((one) => valueOf(prop, one as Option)) };
  }
}

function valueOf(prop: ComponentProp, { label, value }: Option): unknown {
  return prop['withLabel'] === true ? { __lv: { label, value } } : value;
}

interface Pages {
  /** The options of the next page; none after the last. */
  next(): Promise<Option[]>;
  hasMore(): boolean;
}

function onePage(options: Option[]): Pages {
  const left = [...options];
  return { next: () => Promise.resolve(left.splice(0)), hasMore: () => left.length > 0 };
}

/** The options that the component computes. If it throws, the error is shown and there are none. */
function readPages({ output }: CommandContext, api: ApiClient, question: Question, query: string | undefined): Pages {
  const { component, prop, form } = question;
  const seen = new Set<string>();
  let page = 0;
  let context: unknown;
  let hasMore = true;

  async function read(): Promise<Page> {
    const body = { prop_name: prop.name, ...form, page, prev_context: context, query };
    try {
      return await output.progress(`Reading the choices for ${prop.name}`, () =>
        api.send<Page>('POST', `/components/${component.id}/configure`, body),
      );
    } catch (error) {
      if (!(error instanceof CliError) || error.exit !== 'component') throw error;
      output.error(error);
      return { options: [] };
    }
  }

  return {
    hasMore: () => hasMore,
    async next() {
      const answer = await read();
      // A component that does not page answers the same again.
      const fresh = answer.options.filter(({ value }) => !seen.has(JSON.stringify(value)));
      for (const { value } of fresh) seen.add(JSON.stringify(value));
      hasMore = fresh.length > 0;
      page++;
      context = answer.context;
      return fresh;
    },
  };
}

function optionOf(option: unknown): Option {
  if (typeof option !== 'object' || option === null) return { label: String(option), value: option };
  const { label, value } = option as { label?: unknown; value?: unknown };
  return { label: typeof label === 'string' ? label : JSON.stringify(value), value };
}
