import { type ComponentProps, type ReactNode, useId } from 'react';
import { classNames } from './class-names.ts';

const LOOK =
  'rounded-md border border-line-strong bg-surface px-2.5 text-sm text-ink placeholder:text-ink-faint ' +
  'disabled:opacity-60 aria-invalid:border-bad';

/** One line is as high as a button. */
export const INPUT_CLASS = `min-h-8 w-full py-1.25 ${LOOK}`;

/** In a row above a list: as high as a button, and as wide as it says. */
export const FILTER_CLASS = `h-8 py-0.5 ${LOOK}`;

interface FieldProps {
  label: string;
  description?: ReactNode;
  errors?: readonly string[];
  optional?: boolean;
  /** Receives the ids that connect the input to its label and its messages. */
  children: (ids: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: true }) => ReactNode;
}

/** A label, an input, its help text and its errors. */
export function Field({ label, description, errors = [], optional = false, children }: FieldProps) {
  const id = useId();
  const isInvalid = errors.length > 0;
  const describedBy = [description === undefined ? '' : `${id}-help`, isInvalid ? `${id}-error` : ''].filter(Boolean);
  return (
    <div className="flex flex-col gap-1">
      <div className="flex items-baseline gap-2">
        <label htmlFor={id} className="text-sm font-medium">
          {label}
        </label>
        {optional && <span className="text-xs text-ink-faint">optional</span>}
      </div>
      {children({
        id,
        ...(describedBy.length > 0 ? { 'aria-describedby': describedBy.join(' ') } : {}),
        ...(isInvalid ? { 'aria-invalid': true } : {}),
      })}
      {description !== undefined && (
        <div id={`${id}-help`} className="text-xs text-ink-faint">
          {description}
        </div>
      )}
      {isInvalid && (
        <div id={`${id}-error`} className="text-xs text-bad" role="alert">
          {errors.join(' ')}
        </div>
      )}
    </div>
  );
}

type TextFieldProps = Omit<FieldProps, 'children'> & Omit<ComponentProps<'input'>, 'id'>;

export function TextField({ label, description, errors, optional, className, ...input }: TextFieldProps) {
  return (
    <Field
      label={label}
      {...(description === undefined ? {} : { description })}
      {...(errors === undefined ? {} : { errors })}
      {...(optional === undefined ? {} : { optional })}
    >
      {(ids) => <input {...input} {...ids} className={classNames(INPUT_CLASS, className)} />}
    </Field>
  );
}
