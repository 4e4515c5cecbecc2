import { type Confinement, findConfinement } from '../../sandbox-runtime/src/confinement/confinement.ts';
import { createStarter } from '../../sandbox-runtime/src/starter/starter.ts';

/** As SandboxOptions.maxRssMb has it. */
const MAX_RSS_MB = 1_536;

/** A symbol, as files may leave no global behind. */
const FOUND = Symbol.for('what confines the processes of tests');

const kept = globalThis as { [FOUND]?: Map<number, Promise<Confinement>> };

/**
 * The layers that a sandbox finds as it starts, looked for once for all files of a worker: to try
 * each layer takes half of the processor time of a start.
 */
export function sharedConfinement(maxRssMb = MAX_RSS_MB): Promise<Confinement> {
  const found = (kept[FOUND] ??= new Map());
  const known = found.get(maxRssMb) ?? find(maxRssMb);
  found.set(maxRssMb, known);
  return known;
}

async function find(maxRssMb: number): Promise<Confinement> {
  const starter = await createStarter();
  try {
    return await findConfinement({
      starter: Promise.resolve(starter),
      maxRssMb,
      controlGroup: undefined,
      log: () => undefined,
    });
  } finally {
    await starter.stop();
  }
}
