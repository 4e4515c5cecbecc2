import { buildPackages } from './build-packages.ts';

/* `npm run build:packages`, then `npm pack dist/packages/cli`. */

const { client, cli } = await buildPackages('dist/packages');
console.log(`Built ${client} and ${cli}`);
