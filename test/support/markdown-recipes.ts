import { readFile } from 'node:fs/promises';

export interface Recipe {
  title: string;
  /** By name, as the page names them before their block. */
  files: Map<string, string>;
  commands: string[];
  /** Lines that the last command shows in the end. */
  shows: string[];
}

const BLOCK = /(?:^`([\w./-]+)`:\n\n)?^```(\w+)\n(.*?)^```$/gms;

/** The sections of a page that have commands. */
export async function readRecipes(page: string): Promise<Recipe[]> {
  const text = await readFile(new URL(`../../${page}`, import.meta.url), 'utf8');
  const sections = text.split(/^## /m).slice(1);
  return sections.map(readRecipe).filter(({ commands }) => commands.length > 0);
}

function readRecipe(section: string): Recipe {
  const recipe: Recipe = { title: section.split('\n')[0] ?? '', files: new Map(), commands: [], shows: [] };
  for (const [, file, language, body = ''] of section.matchAll(BLOCK)) {
    if (file !== undefined) recipe.files.set(file, body);
    else if (language === 'sh') recipe.commands.push(...body.trim().replaceAll('\\\n', ' ').split('\n'));
    else if (language === 'text') recipe.shows.push(...body.trim().split('\n'));
  }
  return recipe;
}
