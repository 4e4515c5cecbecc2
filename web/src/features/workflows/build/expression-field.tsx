import { queryOptions, useQuery } from '@tanstack/react-query';
import { type ReactNode, useRef, useState } from 'react';
import { api } from '../../../api/client.ts';
import { Button } from '../../../ui/button.tsx';
import { baseType, hasComputedOptions, isList, labelOf, staticChoices } from '../../props/prop-definition.ts';
import type { PropFieldProps } from '../../props/prop-form.tsx';
import { StringField } from '../../props/simple-fields.tsx';
import { ValuePicker, type ValueGroup } from './value-picker.tsx';

type TextInput = HTMLInputElement | HTMLTextAreaElement;

/** Apps and data stores are named, never worked out. */
const NEVER = new Set(['app', 'data_store', 'alert']);

export interface ExpressionFieldProps {
  field: PropFieldProps;
  /** The field as a source has it. */
  native: ReactNode;
  groups: readonly ValueGroup[];
}

/**
 * A field that may hold `{{…}}`, with a button that inserts a value of the event or of a step
 * before.
 */
export function ExpressionField({ field, native, groups }: ExpressionFieldProps) {
  const [isPicking, setPicking] = useState(false);
  const environment = useQuery({ ...environmentNamesQuery, enabled: isPicking });
  const place = useRef<HTMLDivElement>(null);
  const input = useRef<TextInput>(null);
  const { definition, value, onChange } = field;
  if (NEVER.has(baseType(definition)) || definition.disabled === true) return native;
  const isExpression = typeof value === 'string' && value.includes('{{');
  const isText = takesText(definition);
  const insert = (expression: string) => {
    setPicking(false);
    const template = `{{${expression}}}`;
    const target = input.current?.isConnected === true ? input.current : place.current?.querySelector<TextInput>(TEXTS);
    if (isText && target !== null && target !== undefined)
      insertText(target, template, baseType(definition) !== 'string');
    else onChange(isList(definition) ? [...listOf(value), template] : template);
  };
  return (
    <div
      ref={place}
      className="relative"
      onFocus={({ target }) => {
        // Not a text field of the dialog, whose events bubble through here too.
        if (target.matches(TEXTS) && place.current?.contains(target) === true)
          input.current = target as unknown as TextInput;
      }}
    >
      {isExpression && !isText ? <StringField {...field} definition={{ ...definition, type: 'string' }} /> : native}
      <div className="absolute -top-1 right-0 flex">
        {isExpression && !isText && (
          <Button kind="quiet" size="small" className="h-6" onClick={() => onChange(undefined)}>
            Use a fixed value
          </Button>
        )}
        <Button
          kind="quiet"
          size="small"
          className="h-6 px-1.5"
          aria-label={`Insert a value into ${labelOf(definition)}`}
          title="Insert a value of the event or of a step before"
          onClick={() => setPicking(true)}
        >
          <span aria-hidden="true" className="font-mono">
            {'{ }'}
          </span>
          Insert
        </Button>
      </div>
      {isPicking && (
        <ValuePicker
          title={`Insert a value into ${labelOf(definition)}`}
          groups={groups}
          secrets={environment.data}
          onPick={insert}
          onClose={() => setPicking(false)}
        />
      )}
    </div>
  );
}

const environmentNamesQuery = queryOptions({
  queryKey: ['environment', 'names'],
  queryFn: async ({ signal }) => {
    const { data } = await api.get('/v1/environment_variables', { query: { limit: 100 }, signal });
    return { title: 'Environment variables', root: 'env', names: data.map(({ name }) => name) };
  },
});

const TEXTS = 'textarea, input[type="text"], input:not([type])';

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** Whether the field is a text already, so that an expression may stand within it. */
function takesText(definition: PropFieldProps['definition']): boolean {
  if (hasComputedOptions(definition) || staticChoices(definition) !== undefined) return false;
  const type = baseType(definition);
  return type !== 'boolean' && type !== 'integer' && type !== 'number';
}

/**
 * Inserts at the cursor, as if typed. In JSON, outside of a string, the template becomes a string.
 */
function insertText(target: TextInput, template: string, isJson: boolean): void {
  const { value, selectionStart, selectionEnd } = target;
  const [from, to] = [selectionStart ?? value.length, selectionEnd ?? value.length];
  const text = isJson && !isInString(value.slice(0, from)) ? JSON.stringify(template) : template;
  target.setRangeText(text, from, to, 'end');
  target.dispatchEvent(new Event('input', { bubbles: true }));
  target.focus();
}

function isInString(before: string): boolean {
  return (before.replaceAll(/\\./g, '').match(/"/g)?.length ?? 0) % 2 === 1;
}
