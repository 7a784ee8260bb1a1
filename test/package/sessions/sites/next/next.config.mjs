// The package is a link to the repository, outside of this folder.
export default { turbopack: { root: '/' } };
