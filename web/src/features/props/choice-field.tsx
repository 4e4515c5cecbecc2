import { useInfiniteQuery } from '@tanstack/react-query';
import { useDeferredValue, useId, useState } from 'react';
import { api } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { classNames } from '../../ui/class-names.ts';
import { Field, INPUT_CLASS } from '../../ui/field.tsx';
import { Icon } from '../../ui/icons.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import {
  type Choice,
  propChoiceOf,
  hasComputedOptions,
  isList,
  labelOf,
  staticChoices,
  textOf,
  withoutLabel,
} from './prop-definition.ts';
import type { PropContext, PropFieldProps } from './prop-form.tsx';
import { fieldOf } from './simple-fields.tsx';

const same = (a: unknown, b: unknown) => JSON.stringify(withoutLabel(a)) === JSON.stringify(withoutLabel(b));

/**
 * A drop-down with search: of choices in the definition, or of those that the component computes,
 * page by page.
 */
export function ChoiceField(props: PropFieldProps) {
  const { definition, value, onChange, errors } = props;
  const [isOpen, setOpen] = useState(false);
  const many = isList(definition);
  const chosen: unknown[] = many ? (Array.isArray(value) ? value : []) : value === undefined ? [] : [value];
  const pick = (choice: Choice) => {
    if (!many) {
      onChange(choice.value);
      return setOpen(false);
    }
    const without = chosen.filter((one) => !same(one, choice.value));
    const next = without.length === chosen.length ? [...chosen, choice.value] : without;
    return onChange(next.length === 0 ? undefined : next);
  };
  return (
    <Field {...fieldOf({ definition, errors })}>
      {(ids) => (
        <div className="flex flex-col gap-1">
          <div className="flex gap-2">
            <button
              type="button"
              {...ids}
              role="combobox"
              aria-expanded={isOpen}
              aria-haspopup="listbox"
              aria-controls={`${ids.id}-list`}
              disabled={definition.disabled}
              onClick={() => setOpen(!isOpen)}
              className={classNames(INPUT_CLASS, 'flex items-center gap-2 text-left')}
            >
              <span className={classNames('truncate', chosen.length === 0 && 'text-ink-faint')}>
                {chosen.length === 0 ? 'Choose…' : chosen.map(shownText(definition)).join(', ')}
              </span>
              <Icon name="chevron" className={classNames('ml-auto size-3', isOpen ? '-rotate-90' : 'rotate-90')} />
            </button>
            {chosen.length > 0 && (
              <Button aria-label={`Clear ${labelOf(definition)}`} onClick={() => onChange(undefined)}>
                <Icon name="cross" />
              </Button>
            )}
          </div>
          {isOpen && <ChoiceList {...props} listId={`${ids.id}-list`} chosen={chosen} onPick={pick} />}
        </div>
      )}
    </Field>
  );
}

function shownText(definition: PropFieldProps['definition']) {
  return (value: unknown) => {
    const found = staticChoices(definition)?.find((choice) => same(choice.value, value));
    if (found !== undefined) return found.label;
    if (typeof value === 'object' && value !== null && '__lv' in value) return propChoiceOf(value['__lv']).label;
    return textOf(value);
  };
}

interface ChoiceListProps extends PropFieldProps {
  listId: string;
  chosen: readonly unknown[];
  onPick: (choice: Choice) => void;
}

function ChoiceList({ definition, context, listId, chosen, onPick }: ChoiceListProps) {
  const [query, setQuery] = useState('');
  const asked = useDeferredValue(definition.useQuery === true ? query : '');
  const inputId = useId();
  const computed = useComputedChoices(definition.name, context, asked, hasComputedOptions(definition));
  const all = staticChoices(definition) ?? computed.choices;
  const shown =
    definition.useQuery === true ? all : all.filter(({ label }) => label.toLowerCase().includes(query.toLowerCase()));
  const isOwnText = query !== '' && !hasComputedOptions(definition) && shown.length === 0;
  return (
    <div className="rounded-md border border-line bg-raised p-2 shadow-popup">
      <label htmlFor={inputId} className="sr-only">
        Search {labelOf(definition)}
      </label>
      <input
        id={inputId}
        autoFocus
        type="search"
        className={INPUT_CLASS}
        placeholder="Search"
        value={query}
        onChange={({ target }) => setQuery(target.value)}
      />
      <ul id={listId} role="listbox" aria-label={labelOf(definition)} className="mt-1 max-h-56 overflow-y-auto">
        {shown.map((choice) => {
          const isChosen = chosen.some((one) => same(one, choice.value));
          return (
            <li
              key={JSON.stringify(choice.value)}
              role="option"
              aria-selected={isChosen}
              tabIndex={0}
              className="flex cursor-pointer items-center gap-2 rounded px-2 py-1.5 text-sm hover:bg-sunken"
              onClick={() => onPick(choice)}
              onKeyDown={({ key }) => (key === 'Enter' || key === ' ') && onPick(choice)}
            >
              <Icon name="check" className={isChosen ? 'size-3.5' : 'invisible size-3.5'} />
              <span className="truncate">{choice.label}</span>
            </li>
          );
        })}
      </ul>
      {isOwnText && (
        <Button size="small" onClick={() => onPick({ label: query, value: query })}>
          Use “{query}”
        </Button>
      )}
      {computed.isPending && (
        <p className="px-2 py-1 text-xs text-ink-faint" role="status">
          Asking the component…
        </p>
      )}
      {!computed.isPending && shown.length === 0 && !isOwnText && (
        <p className="px-2 py-1 text-xs text-ink-faint">No choices.</p>
      )}
      <ProblemNote error={computed.error} />
      {computed.more !== undefined && (
        <Button size="small" busy={computed.isFetchingMore} onClick={computed.more}>
          More choices
        </Button>
      )}
    </div>
  );
}

interface PageAt {
  page: number;
  context?: unknown;
}

/** `options` of the component, run in its sandbox with the current values. */
function useComputedChoices(propName: string, context: PropContext, query: string, isNeeded: boolean) {
  const { componentId, sourceId, dynamicPropsId, values } = context;
  const list = useInfiniteQuery({
    queryKey: ['choices', componentId, propName, values, query, dynamicPropsId],
    enabled: isNeeded,
    initialPageParam: { page: 0 } as PageAt,
    queryFn: async ({ pageParam, signal }) => {
      const body = {
        prop_name: propName,
        configured_props: { ...values },
        page: pageParam.page,
        ...(pageParam.context === undefined ? {} : { prev_context: pageParam.context as Record<string, never> }),
        ...(query === '' ? {} : { query }),
        ...(sourceId === undefined ? {} : { source_id: sourceId }),
        ...(dynamicPropsId === undefined ? {} : { dynamic_props_id: dynamicPropsId }),
      };
      const { data } = await api.post('/v1/components/{id}/configure', {
        path: { id: componentId },
        body,
        signal,
      });
      return data;
    },
    // A page without choices is the last one, even with a context.
    getNextPageParam: ({ options, context: next }, _, { page }): PageAt | undefined =>
      options.length === 0
        ? undefined
        : { page: page + 1, ...(next === undefined || next === null ? {} : { context: next }) },
  });
  const choices = list.data?.pages.flatMap(({ options }) => options.map(propChoiceOf)) ?? [];
  return {
    choices: [...new Map(choices.map((choice) => [JSON.stringify(choice.value), choice])).values()],
    isPending: isNeeded && list.isPending,
    error: list.error,
    more: list.hasNextPage ? () => void list.fetchNextPage() : undefined,
    isFetchingMore: list.isFetchingNextPage,
  };
}
