import { createConfig, lintFromString } from '@redocly/openapi-core';
import { startTestServer } from './http-server.ts';

/** On top of the linter's own strictest set, in which every warning is an error. */
const RULES = {
  'operation-description': 'error',
  'operation-singular-tag': 'error',
  'parameter-description': 'error',
  'tag-description': 'error',
  'no-invalid-media-type-examples': 'error',
  'no-invalid-schema-examples': 'error',
  'no-invalid-parameter-examples': 'error',
  'no-unused-components': 'error',
  'operation-4xx-problem-details-rfc7807': 'error',
  // `/v1/components/registry/{id}` is as the clients of the interface know it; the router takes the
  // longer fixed part first.
  'no-ambiguous-paths': 'off',
  // The instance is wherever its operator says.
  'no-server-example.com': 'off',
} as const;

/** It answers browsers, with a page. */
const PAGE = '#/paths/~1oauth~1callback/get/responses/400';

/** Redirects of browsers. */
const REDIRECTS = /^#\/paths\/~1oauth~1sign-in(?:~1callback)?\/get\/responses$/;

/** Lints the OpenAPI document of this tree. Resolves with one line per error. */
async function lintDocument(): Promise<string[]> {
  const { url, server } = await startTestServer();
  try {
    const source = await (await fetch(`${url}/openapi.json`)).text();
    const config = await createConfig({ extends: ['recommended-strict'], rules: { ...RULES } });
    const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config });
    return problems
      .map(({ ruleId, message, location: [place] }) => ({ ruleId, message, pointer: place?.pointer ?? '' }))
      .filter(
        ({ pointer, ruleId }) => pointer !== PAGE && !(ruleId === 'operation-2xx-response' && REDIRECTS.test(pointer)),
      )
      .map(({ ruleId, message, pointer }) => `${ruleId} ${pointer}: ${message}`);
  } finally {
    await server.stop(0);
  }
}

const problems = await lintDocument();
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else console.log('The OpenAPI document has no errors and no warnings');
