/** A source that emits the body of each request. */
export const EXAMPLE_CODE = `export default {
  name: 'Orders',
  version: '0.1.0',
  props: { http: '$.interface.http' },
  async run(event) {
    this.$emit(event.body);
  },
};
`;
