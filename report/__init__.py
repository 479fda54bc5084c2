"""The page that people open: data from the results (inputs, cells, board, sections), SVG drawings (svg, plots), and
the page itself (page, with templates/ and static/). Text from results, logs and file names is escaped wherever it goes.
"""
