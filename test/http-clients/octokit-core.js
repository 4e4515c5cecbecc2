import { Octokit } from '@octokit/core';

const clientOf = (base) => new Octokit({ auth: 'ghp_1', baseUrl: `${base}/octokit` });

export const checks = {
  async json(base) {
    const octokit = clientOf(base);
    const { status, data } = await octokit.request('POST /repos/{owner}/{repo}/issues', {
      owner: 'ada',
      repo: 'engine',
      title: 'It works',
    });
    equal(
      [status, data],
      [201, { path: '/repos/ada/engine/issues', authorization: 'token ghp_1', body: { title: 'It works' } }],
    );
  },
  async error(base) {
    const error = await failureOf(clientOf(base).request('GET /missing'));
    equal([error.name, error.status, error.response.data.message], ['HttpError', 404, 'Not Found']);
  },
  async graphql(base) {
    const data = await clientOf(base).graphql('query($name: String!) { greeting(name: $name) }', { name: 'Ada' });
    equal(data.greeting, 'Hello Ada');
  },
  async abort(base) {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), ABORT_MS);
    const octokit = new Octokit({ baseUrl: base });
    const error = await failureOf(octokit.request('GET /never', { request: { signal: controller.signal } }));
    equal(error.name, 'AbortError');
  },
};
