import { ClientError, GraphQLClient, gql } from 'graphql-request';

const QUERY = gql`
  query Greet($name: String!) {
    greeting(name: $name)
  }
`;

export const checks = {
  async json(base) {
    const client = new GraphQLClient(`${base}/graphql`, { headers: { 'x-key': 'k1' } });
    equal(await client.request(QUERY, { name: 'Ada' }), { greeting: 'Hello Ada', key: 'k1' });
  },
  async error(base) {
    const error = await failureOf(new GraphQLClient(`${base}/graphql`).request(QUERY, {}));
    equal([error instanceof ClientError, error.response.errors[0].message], [true, 'name is missing']);
    const failed = await failureOf(new GraphQLClient(`${base}/error`).request(QUERY, {}));
    equal(failed.response.status, 422);
  },
  async abort(base) {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), ABORT_MS);
    const client = new GraphQLClient(`${base}/never`);
    const error = await failureOf(client.request({ document: QUERY, signal: controller.signal }));
    equal(error.name, 'AbortError');
  },
};
