import { expect, it } from 'vitest';
import { createJobCrowds, crowdPriority } from '../../../engine/src/db/jobs/job-crowds.ts';

const AT_MS = 1_700_000_000_500;

it('the first jobs of a tenant in a second come first, and the more there are the later', () => {
  const { priorityAt } = createJobCrowds();
  const priorities = Array.from({ length: 100_000 }, () => priorityAt('o_many', AT_MS));
  expect(priorities).toEqual(priorities.toSorted((a, b) => a - b));
  expect(priorities.filter((priority) => priority === 0)).toHaveLength(64);
  expect(priorities.at(-1)).toBe(11);
});

it('those of another tenant, or of another second, are not of the crowd', () => {
  const { priorityAt } = createJobCrowds();
  for (let i = 0; i < 1_000; i++) priorityAt('o_many', AT_MS);
  expect([priorityAt('o_few', AT_MS), priorityAt('o_many', AT_MS + 1_000)]).toEqual([0, 0]);
});

it('there is a last place, however many there are', () => {
  expect([0, 63, 64, 127, 128, 1e9, 1e12].map(crowdPriority)).toEqual([0, 0, 1, 1, 2, 16, 16]);
});

it('the memory of crowds is bounded', () => {
  const { priorityAt } = createJobCrowds();
  for (let i = 0; i < 1_000; i++) priorityAt('o_many', AT_MS);
  for (let second = 1; second <= 20_000; second++) priorityAt('o_other', AT_MS + second * 1_000);
  expect(priorityAt('o_many', AT_MS)).toBe(0);
});
