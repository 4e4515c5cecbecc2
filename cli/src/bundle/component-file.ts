/** How files of components end. */
export const COMPONENT_FILE = /\.(?:[cm]?js|[cm]?ts)$/;
