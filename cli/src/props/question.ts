import type { Component, ComponentProp } from '../api/resources.ts';
import type { CommandContext } from '../context.ts';
import { parseTyped } from './parse-typed.ts';

export interface Question {
  component: Component;
  prop: ComponentProp;
  /** Values so far, as the endpoint for choices expects them. */
  form: Record<string, unknown>;
}

export function titleOf({ name, label, description }: ComponentProp): string {
  const title = label ?? name;
  return description === undefined ? title : `${title}: ${description}`;
}

export const notEmpty = (typed: string) => parseTyped(typed, 'string').problem;

export async function askForText({ ask }: CommandContext, prop: ComponentProp): Promise<unknown> {
  const isList = prop.type.endsWith('[]');
  const text = await ask.text(titleOf(prop), {
    ...(isList ? { placeholder: 'several with commas between, or a JSON list' } : {}),
    check: (typed) => parseTyped(typed, prop.type).problem,
  });
  return parseTyped(text, prop.type).value;
}
