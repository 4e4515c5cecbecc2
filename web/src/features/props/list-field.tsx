import { Button } from '../../ui/button.tsx';
import { Field, INPUT_CLASS } from '../../ui/field.tsx';
import { Icon } from '../../ui/icons.tsx';
import { baseType, labelOf, textOf } from './prop-definition.ts';
import type { PropFieldProps } from './prop-form.tsx';
import { fieldOf } from './simple-fields.tsx';

/** Texts or numbers, one input each. */
export function ListField({ definition, value, onChange, errors }: PropFieldProps) {
  const items: unknown[] = Array.isArray(value) ? value : [];
  const type = baseType(definition);
  const isNumber = type === 'integer' || type === 'number';
  const label = labelOf(definition);
  const set = (next: unknown[]) => onChange(next.length === 0 ? undefined : next);
  const itemOf = (text: string) => (isNumber ? Number(text) : type === 'boolean' ? text === 'true' : text);
  return (
    <Field {...fieldOf({ definition, errors })}>
      {(ids) => (
        <div {...ids} role="group" aria-label={label} className="flex flex-col gap-2">
          {items.map((item, index) => (
            // The place is what an item is known by: two may be the same.
            <div key={`${index}`} className="flex gap-2">
              <input
                aria-label={`${label} ${index + 1}`}
                type={isNumber ? 'number' : 'text'}
                className={INPUT_CLASS}
                value={textOf(item)}
                onChange={({ target }) => set(items.with(index, itemOf(target.value)))}
              />
              <Button aria-label={`Remove ${label} ${index + 1}`} onClick={() => set(items.toSpliced(index, 1))}>
                <Icon name="cross" />
              </Button>
            </div>
          ))}
          <Button size="small" className="self-start" onClick={() => set([...items, itemOf('')])}>
            <Icon name="plus" className="size-3.5" />
            Add
          </Button>
        </div>
      )}
    </Field>
  );
}
